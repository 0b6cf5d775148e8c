"""Encodings by position alone: each one's attention map, on one colour scale."""

from __future__ import annotations

from viz_core.figures import encoding_atlas
from viz_core.plates import _formulas
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.words import mark


def draw(options: Options, progress: Progress) -> Plot:
    """A map per encoding, whole or in part. Raises UsageError as `_formulas` does."""
    found = _formulas.formulas(options)
    spec = encoding_atlas.build(found.drawn(options))
    progress(1.0)
    return Plot(spec, _formulas.sources(found.sides), found.facts())


PLATE = Plate("encoding-maps", mark("Attention by position alone"), _formulas.SHOWN, draw)
