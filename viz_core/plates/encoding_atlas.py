"""The atlas of encodings: what each does by position alone, as a map and by distance."""

from __future__ import annotations

from dataclasses import replace

from viz_core.figures import encoding_atlas
from viz_core.plates import _composed, _formulas
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.words import mark


def draw(options: Options, progress: Progress) -> Plot:
    """A row of maps and a row of curves, an encoding per column. Raises UsageError as `_formulas`
    does."""
    found = _formulas.formulas(options)
    # beside others in a row there is little room for titles
    drawn = [
        side if len(side.law) > 1 else replace(side, title=a.title)
        for side, a in zip(found.drawn(options), found.sides, strict=True)
    ]
    sources, facts = _formulas.sources(found.sides), found.facts()
    curves = encoding_atlas.curves(drawn, options["x_scale"] == "log", standing=False)
    progress(1.0)
    maps = Plot(encoding_atlas.build(drawn), sources, facts)
    joined = _composed.join([maps, Plot(curves, sources, facts)])
    return Plot(joined.spec, sources, facts)


PLATE = Plate(
    "encoding-atlas",
    mark("Encodings by position alone"),
    {**_formulas.SHOWN, "encodings": ["alibi", "rope", "t5", "sinusoidal"], "x_scale": "linear"},
    draw,
    {"encoding-atlas": {}},
)
