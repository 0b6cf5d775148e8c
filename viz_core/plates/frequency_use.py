"""Which of RoPE's frequencies heads use: the norms of queries and keys by wavelength."""

from __future__ import annotations

from viz_core.errors import UsageError
from viz_core.figures import frequency_use
from viz_core.plates import _gathered, _places, _portraits
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.plates._portraits import Sitter
from viz_core.progress import Progress
from viz_core.signatures import pairs
from viz_core.words import mark, say


def draw(options: Options, progress: Progress) -> Plot:
    """A panel per checkpoint, one head in focus. Raises UsageError for checkpoints that don't
    rotate, or a head that one hasn't."""
    some = _portraits.sitters(options, progress)
    for one in some:
        if not len(one.portrait.theta):
            raise UsageError(
                say(
                    "Expected --checkpoints with RoPE; got {checkpoint}.",
                    checkpoint=one.checkpoint.id,
                )
            )
    layer, head = _portraits.place(some, options["layer"], _places.one_head(options))
    spec = frequency_use.build([_side(one, layer, head) for one in some], layer, head)
    facts = _gathered.facts(some[0].portrait, [layer + 1]) | {"heads": [head + 1]}
    return Plot(spec, _portraits.sources(some, options), facts)


def _side(one: Sitter, layer: int, head: int) -> frequency_use.Side:
    p = one.portrait
    used = pairs.use(p.query_norm[layer], p.key_norm[layer], p.theta, p.trained)
    share = float(used.incomplete[head])
    about = (p.trained, share, used.incomplete_even, p.texts, p.length)
    return frequency_use.Side(one.name, one.accent, used.share, used.even, p.theta, *about)


PLATE = Plate(
    "frequency-use",
    mark("Frequency use by wavelength"),
    {"checkpoints": ["rope"], "layer": 3, "heads": [1], **_portraits.COMMON},
    draw,
)
