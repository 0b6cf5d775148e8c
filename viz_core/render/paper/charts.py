"""Charts on paper: curves, their intervals and laws, on axes with the spec's limits and ticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis as Ruler
from matplotlib.ticker import FixedFormatter, FixedLocator, LogLocator, MaxNLocator, NullLocator

from viz_core.figures.spec import Axis, Chart, Dash, Line
from viz_core.render import palette
from viz_core.render.paper import style

FILL, FILL_OF_MANY = 0.16, 0.09  # opacity of bands, as on the screen
BACKGROUND = 0.35  # opacity of lines in a group
DASHES: dict[Dash, Any] = {
    "solid": "-",
    "dash": (0, (3.5, 2.0)),
    "dot": (0, (1.0, 1.5)),
    "dashdot": (0, (4.0, 1.5, 1.0, 1.5)),
}
MARKER = 2.6  # points
APART, HIGH = 3.0, 1.0  # points between labels in a row; a label's height, of its size
PER_X_TICK, PER_Y_TICK = 34.0, 19.0  # points of an axis for each tick that the spec leaves free


def draw(ax: Axes, panel: Chart) -> None:
    """Everything but words: background first, what is in focus last."""
    ax.grid(True, color=style.FAINT, linewidth=style.GRID)
    for axis, setter in ((panel.x, ax.set_xscale), (panel.y, ax.set_yscale)):
        setter("log" if axis.log else "linear")
    bands = sum(line.band is not None for line in panel.lines)
    for line in sorted(panel.lines, key=lambda one: not one.group):
        if line.band is not None:
            ax.fill_between(
                line.x,
                line.band.low,
                line.band.high,
                color=palette.accent(line.accent),
                alpha=FILL if bands < 3 else FILL_OF_MANY,
                linewidth=0,
            )
        _curve(ax, line)
    dotted: dict[str, Any] = {
        "color": style.INK,
        "linewidth": style.DOTTED,
        "linestyle": DASHES["dot"],
        "zorder": 1.5,
    }
    for place, _ in panel.marks:
        if panel.x.range is None or panel.x.range[0] < place < panel.x.range[1]:
            ax.axvline(place, **dotted)
    for place, _ in panel.levels:
        ax.axhline(place, **dotted)
    if panel.x.range is not None:
        ax.set_xlim(panel.x.range)
    if panel.y.range is not None:
        ax.set_ylim(panel.y.range)


def colour(line: Line) -> str:
    """The line's colour, as on the screen."""
    if line.shade is None:
        return palette.accent(line.accent)
    return palette.shaded(line.accent, 0.25 + 0.75 * line.shade)


def fit(ax: Axes, panel: Chart, width: float, height: float, text: float) -> None:
    """Ticks for axes of `width` x `height` points: the spec's; of its labels, as many as fit."""
    _ticks(ax.xaxis, panel.x, ax.get_xlim(), width, PER_X_TICK)
    _ticks(ax.yaxis, panel.y, ax.get_ylim(), height, PER_Y_TICK)
    left, low = ax.get_xlim()[0], ax.get_ylim()[0]
    across, up = [(x, low) for x in ax.get_xticks()], [(left, y) for y in ax.get_yticks()]
    _thin(ax.xaxis, _placed(ax, across)[:, 0] * width, lambda s: style.width(s, text) + APART)
    _thin(ax.yaxis, _placed(ax, up)[:, 1] * height, lambda _: HIGH * text)


def _placed(ax: Axes, points: Sequence[tuple[float, float]]) -> npt.NDArray[np.float64]:
    """Points of the data as shares of the axes: [point, 2]."""
    pixels = ax.transData.transform(np.reshape(points, (-1, 2)))
    found: npt.NDArray[np.float64] = ax.transAxes.inverted().transform(pixels)
    return found


def _thin(ruler: Ruler, places: npt.NDArray[np.float64], takes: Callable[[str], float]) -> None:
    """Leaves as many labels of a ruler's ticks as fit; the ticks themselves stay."""
    labels = [label.get_text() for label in ruler.get_majorticklabels()]
    shown = _apart(places, [takes(label) for label in labels])
    ruler.set_major_formatter(
        FixedFormatter([label if i in shown else "" for i, label in enumerate(labels)])
    )


def _curve(ax: Axes, line: Line) -> None:
    strong = line.strong and (line.markers or line.dash == "solid")
    ax.plot(
        line.x,
        line.y,
        color=colour(line),
        alpha=BACKGROUND if line.group else 1.0,
        linewidth=style.STRONG if strong else style.LAW if line.dash != "solid" else style.PLAIN,
        linestyle=DASHES[line.dash],
        marker="o" if line.markers else None,
        markersize=MARKER,
        markeredgewidth=0,
        zorder=1.8 if line.group else 2.4 if line.dash != "solid" else 2.2 if line.strong else 2.0,
        label=line.name,
    )


def _ticks(ruler: Ruler, axis: Axis, limits: tuple[float, float], size: float, each: float) -> None:
    ruler.set_minor_locator(NullLocator())
    if axis.ticks is not None:
        inside = sorted(tick for tick in axis.ticks if _within(tick[0], limits))
        places = [(p, style.typeset(label)) for p, label in inside]
    else:
        count = max(2, int(size / each))
        locator = (
            LogLocator(numticks=count) if axis.log else MaxNLocator(count, steps=[1, 2, 2.5, 5, 10])
        )
        found = [float(p) for p in locator.tick_values(*limits) if _within(p, limits)]
        digits = _digits(found)
        places = [
            (p, style.typeset(f"{p:,.{digits}f}" if digits >= 0 else f"{p:g}")) for p in found
        ]
    ruler.set_major_locator(FixedLocator([p for p, _ in places]))
    ruler.set_major_formatter(FixedFormatter([label for _, label in places]))


def _within(place: float, limits: tuple[float, float]) -> bool:
    low, high = min(limits), max(limits)
    slack = 1e-9 * (high - low)
    return low - slack <= place <= high + slack


def _digits(places: list[float]) -> int:
    """Decimals that tell the places apart, alike for all; -1 where no decimals do."""
    for digits in range(5):
        if all(abs(round(p, digits) - p) <= 1e-9 * max(1.0, abs(p)) for p in places):
            return digits
    return -1


def _apart(places: npt.NDArray[np.float64], widths: list[float]) -> set[int]:
    """Which labels stay: all, else every second, third, ... so that none comes near the next."""
    for step in range(1, max(2, len(widths))):
        kept = list(range(0, len(widths), step))
        room = [places[b] - places[a] - (widths[a] + widths[b]) / 2 for a, b in pairwise(kept)]
        if all(r >= 0.0 for r in room):
            return set(kept)
    return {0}
