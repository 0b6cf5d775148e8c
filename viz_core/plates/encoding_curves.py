"""Encodings by position alone: each one's logits by distance, on the same axes."""

from __future__ import annotations

from viz_core.figures import encoding_atlas
from viz_core.plates import _formulas
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.words import mark


def draw(options: Options, progress: Progress) -> Plot:
    """A panel per encoding. Raises UsageError as `_formulas` does."""
    found = _formulas.formulas(options)
    whole = {**options, "queries": None, "keys": None}
    spec = encoding_atlas.curves(found.drawn(whole), options["x_scale"] == "log")
    progress(1.0)
    return Plot(spec, _formulas.sources(found.sides), found.facts())


PLATE = Plate(
    "encoding-curves",
    mark("Logits by distance, by position alone"),
    {**_formulas.SIZES, "heads": [4], "x_scale": "linear"},
    draw,
)
