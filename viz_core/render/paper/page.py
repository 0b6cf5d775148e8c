"""A figure on a page of exact width: all blocks measured, then set in their places.

How much room words take depends on the size of the axes (ticks, names, broken lines), and that on
the room: a few rounds settle it.
"""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from viz_core.figures.spec import Chart, FigureSpec
from viz_core.render.paper import arrangement, bands, key, words
from viz_core.render.venues import INCH, Sheet

DPI = 288  # of measuring: letters' edges to a quarter of a point
EDGE = 1.0  # around the figure, points: half a line's width, and what rounding moves
DOWN = 7.0  # between bands
ROUNDS = 4


def compose(spec: FigureSpec, sheet: Sheet) -> Figure:
    """The figure, `sheet.width` points wide and as high as it turns out.

    Called within `style.settings`, which holds the settings that it is drawn with.
    """
    figure = Figure(figsize=(sheet.width / INCH, sheet.width / INCH), dpi=DPI)
    FigureCanvasAgg(figure)
    arranged = arrangement.arrange(spec.panels, sheet, spec.parts)
    shared = words.keys(p for p in spec.panels if isinstance(p, Chart))
    letters = arrangement.letters(sum(len(row) for band in arranged for row in band.rows))
    marks = iter([f"({letter})" if letter else "" for letter in letters])
    drawn = [
        bands.draw(figure, band, spec.panels, sheet, marks, named=not shared) for band in arranged
    ]
    legend = key.draw(figure, shared, sheet) if shared else None
    for _ in range(ROUNDS):
        heights = [band.solve(sheet.width - 2 * EDGE) for band in drawn]
        below = key.height(legend) + DOWN if legend else 0.0
        total = sum(heights) + DOWN * (len(drawn) - 1) + below + 2 * EDGE
        figure.set_size_inches(sheet.width / INCH, total / INCH)
        top = total - EDGE
        for band, height in zip(drawn, heights, strict=True):
            band.place(EDGE, top)
            top -= height + DOWN
    for band in drawn:
        band.finish()
    return figure
