"""Steps within a head: its curve where T5's buckets begin."""

from __future__ import annotations

from viz_core.errors import LengthError
from viz_core.figures import bucket_edges, head_wall
from viz_core.plates import _gathered, _places, _portraits
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.plates._portraits import Sitter
from viz_core.progress import Progress
from viz_core.signatures import staircase
from viz_core.words import mark


def draw(options: Options, progress: Progress) -> Plot:
    """A panel per checkpoint, one head of each. Raises UsageError for a head that one hasn't."""
    some = _portraits.sitters(options, progress)
    layer, head = _portraits.place(some, options["layer"], _places.one_head(options))
    what = head_wall.title(layer, head)
    spec = bucket_edges.build([_side(one, layer, head) for one in some], what)
    facts = _gathered.facts(some[0].portrait, [layer + 1]) | {"heads": [head + 1]}
    return Plot(spec, _portraits.sources(some, options), facts)


def _side(one: Sitter, layer: int, head: int) -> bucket_edges.Side:
    p = one.portrait
    try:
        found = staircase.climb(p.curve[layer], p.edges)
        score, chance = float(found.score[head]), float(found.p[head])
    except LengthError:  # no edge has room: there is no score
        score = chance = float("nan")
    return bucket_edges.Side(
        name=one.name,
        accent=one.accent,
        curve=p.curve[layer, head],
        error=p.error[layer, head],
        law=p.law[layer, head],
        edges=p.edges,
        score=score,
        p=chance,
        texts=p.texts,
        length=p.length,
    )


PLATE = Plate(
    "bucket-edges",
    mark("Steps at the edges of T5's buckets"),
    {"checkpoints": ["t5", "alibi", "rope"], "layer": 2, "heads": [1], **_portraits.COMMON},
    draw,
)
