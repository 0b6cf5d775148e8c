"""What attention does as the text grows, from the shipped tables: entropy, sink, distance."""

from __future__ import annotations

from viz_core import series, texts
from viz_core.errors import UsageError
from viz_core.export.provenance import Facts
from viz_core.figures import mechanism
from viz_core.plates import _places, _tables
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.words import mark, say


def draw(options: Options, progress: Progress) -> Plot:
    """All checkpoints as trained; other settings in the panels that are drawn for them.

    Raises AtlasError where the tables have no rows, UsageError without the models as trained.
    """
    settings = [_places.setting(word) for word in options["scaling"]]
    if "" not in settings:
        raise UsageError(say("Expected none among --scaling here: other settings stand beside it."))
    text: str = options["text"]
    plain, varied, count = _tables.mechanisms(text, options["checkpoints"], settings)
    spec = mechanism.build(plain, series.text(text), count, varied)
    progress(1.0)
    facts: Facts = {
        "trained_length": plain[0].trained_length,
        "lengths": sorted({int(n) for s in plain for n in s.length}),
        "texts": count,
        "normalisation": "softmax over all keys that are not after the query",
    }
    return Plot(spec, _tables.of_tables("mechanism"), facts)


PLATE = Plate(
    "mechanism",
    mark("What attention does as the text grows"),
    {
        "checkpoints": list(series.ORDER),
        "scaling": ["none", "linear:4", "ntk:4", "yarn:4"],
        "text": texts.HELD_OUT,
    },
    draw,
)
