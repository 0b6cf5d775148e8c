"""The key below charts that share their curves: each name once, with its line."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from viz_core.figures.spec import Line
from viz_core.render.paper import charts, style
from viz_core.render.venues import INCH, Sheet


def draw(figure: Figure, lines: Sequence[Line], sheet: Sheet) -> Legend:
    """The key at the foot of the page, in as few rows as the width allows."""
    handles = [
        Line2D(
            [],
            [],
            color=charts.colour(line),
            linestyle=charts.DASHES[line.dash],
            linewidth=style.STRONG,
            marker="o" if line.markers else None,
            markersize=charts.MARKER,
            label=line.label,
        )
        for line in lines
    ]
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(
            handles=handles,
            loc="lower center",
            ncols=columns,
            fontsize=sheet.text,
            frameon=False,
            borderpad=0.0,
            borderaxespad=0.1,
            handlelength=1.8,
            handletextpad=0.4,
            columnspacing=1.2,
            labelspacing=0.25,
        )
        if columns == 1 or _size(legend)[0] <= sheet.width - 2:
            return legend
        legend.remove()
    raise AssertionError("one column is always taken")


def height(legend: Legend) -> float:
    """Points that the key takes."""
    return _size(legend)[1]


def _size(legend: Legend) -> tuple[float, float]:
    figure = legend.get_figure(root=True)
    assert figure is not None
    box = legend.get_window_extent()
    return box.width * INCH / figure.dpi, box.height * INCH / figure.dpi
