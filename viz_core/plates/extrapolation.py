"""Losses by length from the shipped tables, as trained or under other settings."""

from __future__ import annotations

from viz_core import series, texts
from viz_core.export.provenance import Facts
from viz_core.figures import extrapolation
from viz_core.perplexity.protocols import PROTOCOLS
from viz_core.plates import _places, _tables
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.words import mark, say

NAMES = {
    "fixed-targets": mark("Fixed targets"),
    "non-overlapping": mark("Non-overlapping"),
    "sliding-window": mark("Sliding window"),
}


def draw(options: Options, progress: Progress) -> Plot:
    """One protocol alone: each is another quantity. Raises AtlasError where there are no rows."""
    protocol: str = options["protocol"]
    text: str = options["text"]
    measure: extrapolation.Measure = options["measure"]
    settings = [_places.setting(word) for word in options["scaling"]]
    found = _tables.losses(protocol, text, options["checkpoints"], settings)
    spec = extrapolation.build(
        found, say(NAMES[protocol]), say(PROTOCOLS[protocol]), series.text(text), measure
    )
    progress(1.0)
    facts: Facts = {
        "trained_length": found[0].trained_length,
        "lengths": sorted({int(n) for s in found for n in s.length}),
        "protocol": PROTOCOLS[protocol],
        "measure": measure,
        "interval": "95 % bootstrap over documents",
    }
    return Plot(spec, _tables.of_tables("perplexity"), facts)


PLATE = Plate(
    "extrapolation",
    mark("Losses by length"),
    {
        "checkpoints": list(series.ORDER),
        "scaling": ["none"],
        "protocol": "fixed-targets",
        "measure": "perplexity",
        "text": texts.HELD_OUT,
    },
    draw,
    {
        "extrapolation": {},
        "extrapolation-rope": {
            "checkpoints": ["rope"],
            "scaling": ["none", "linear:fit", "ntk:fit", "dynamic", "yarn:fit"],
        },
    },
)
