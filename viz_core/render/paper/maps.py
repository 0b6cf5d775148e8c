"""Heatmaps on paper: cells as an image of their own resolution, within vector axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from viz_core.figures.spec import Guide, Heatmap, Scale
from viz_core.render import palette
from viz_core.render.paper import style
from viz_core.words import say

ATTENTION = ("log10 A", "A", "nats")  # units of maps with queries down and keys across
LEVELS = 255  # colours of an image: with the white of empty cells it can be indexed
APART = 3.0  # between the labels of ticks
PER_TICK = 30.0  # points of an axis for each tick, about


def draw(ax: Axes, panel: Heatmap) -> None:
    """The cells, with axes in tokens; nothing where a cell holds no pair."""
    (first, last), (left, right) = panel.rows, panel.columns
    down, across = panel.value.shape
    ax.imshow(
        image(panel),
        interpolation="none",  # as it is, in every format
        aspect="auto",
        origin="upper",
        extent=(left, left + panel.cell * across, first + panel.cell * down, first),
    )
    ax.set_xlim(left, right)
    ax.set_ylim(last, first)
    ax.spines[:].set_visible(True)
    if panel.mark is not None:
        _mark(ax, panel, panel.mark)
    for guide in panel.guides:
        _guide(ax, panel, guide)


def image(panel: Heatmap) -> npt.NDArray[np.uint8]:
    """Each cell's colour in its scale, white where it is empty: [row, column, 3]."""
    scale = panel.scale
    level = (panel.value - scale.low) / max(scale.high - scale.low, 1e-12)
    known = np.isfinite(level)
    step = np.round(np.where(known, level, 0.0).clip(0, 1) * (LEVELS - 1)).astype(np.int64)
    return np.where(known[..., None], colours(scale)[step], 255).astype(np.uint8)


def fit(ax: Axes, panel: Heatmap, width: float, height: float, text: float) -> None:
    """Ticks for axes of `width` x `height` points: at the ends, and round numbers between.

    Labels at the ends stay within the map, so that maps stand close together.
    """
    for axis, span, size in ((ax.xaxis, panel.columns, width), (ax.yaxis, panel.rows, height)):
        places = _ticks(span, size)
        labels = [f"{p:,.0f}" for p in places]
        taken = sum(style.width(s, text) for s in labels) if axis is ax.xaxis else 2.5 * text
        if taken + APART > size:
            labels = ["" for _ in labels[:-1]] + labels[-1:]
        axis.set_ticks(places, labels)
        for tick, place in zip(axis.get_major_ticks(len(places)), places, strict=True):
            end = span.index(place) if place in span else 2
            if axis is ax.xaxis:
                tick.label1.set_horizontalalignment(("left", "right", "center")[end])
            else:
                tick.label1.set_verticalalignment(("top", "bottom", "center_baseline")[end])


def words(panel: Heatmap) -> tuple[str, str]:
    """What lies across and down: ("key", "query") for attention, nothing for others."""
    return (say("key"), say("query")) if panel.unit in ATTENTION else ("", "")


def _ticks(span: tuple[int, int], size: float) -> list[float]:
    """Ends of the range where they are round, else the roundest places within it."""
    first, last = span
    halves = [first, (first + last) / 2, last]
    if last - first >= 64 and first % 16 == 0 and last % 16 == 0:
        return halves if size >= 2 * PER_TICK else [first, last]
    places = MaxNLocator(max(1, int(size / PER_TICK)), integer=True).tick_values(first, last)
    return [float(p) for p in places if first <= p <= last]


def colours(scale: Scale) -> npt.NDArray[np.uint8]:
    """The colours of a scale from low to high: [LEVELS, 3]."""
    every = palette.table(scale.colours)
    few: npt.NDArray[np.uint8] = every[np.linspace(0, 255, LEVELS).round().astype(int)]
    return few


def _mark(ax: Axes, panel: Heatmap, mark: int) -> None:
    """Where queries pass the trained length, and the diagonal beyond which no distance was trained:
    white on black, so that it is seen on any colour."""
    (first, last), (left, right) = panel.rows, panel.columns
    lines = [([left, right], [left + mark, right + mark])]
    if first < mark < last and left < mark:
        lines.append(([left, min(mark, right)], [mark, mark]))
    look: dict[str, Any] = {"linewidth": style.DOTTED, "solid_capstyle": "butt"}
    for x, y in lines:
        ax.plot(x, y, color="black", **look)
        ax.plot(x, y, color="white", linestyle=(0, (2, 2)), **look)


def _guide(ax: Axes, panel: Heatmap, guide: Guide) -> None:
    """A fine line that says where to look; what it is stands in the caption, not on the map."""
    (first, last), (left, right) = panel.rows, panel.columns
    x: list[float] = [left, right]
    y: list[float] = [left + guide.distance, right + guide.distance]
    if guide.key is not None:
        x, y = [guide.key, guide.key], [max(first, guide.key), last]
    for colour, wide in (("black", 3), ("white", 1)):  # seen on any colour
        ax.plot(x, y, color=colour, linewidth=wide * style.GRID, solid_capstyle="butt")
