"""Words within charts: names at the ends of curves, and what marks and levels are.

Names stand right of the axes, apart from each other. Words inside go where they cover no other
words and as little of the curves as can be; those that fit nowhere are left out, and the caption
says what they would.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from viz_core.figures.spec import Chart, Line
from viz_core.render import labels, palette
from viz_core.render.paper import placing, style

GAP, LEAD = 3.0, 7.0  # from the axes to a name: beside its point, and with a line to it; points


def ends(ax: Axes, panel: Chart, width: float, height: float, text: float) -> list[Artist]:
    """Names of the curves that reach the last place, right of axes of `width` x `height` points.

    A name that had to move is tied to its curve by a thin line.
    """
    last = _lasts(ax, panel)
    latest = max((x for _, x, _ in last), default=0.0)
    named = [line for line, x, _ in last if x == latest]
    if not named:
        return []
    wanted = [placing.at(ax, x, y, width, height)[1] for _, x, y in last if x == latest]
    places = labels.spread(wanted, placing.LINE * text, 0.4 * text, height - 0.4 * text)
    gap = LEAD if any(abs(a - b) > text / 2 for a, b in zip(wanted, places, strict=True)) else GAP
    found: list[Artist] = []
    for line, start, place in zip(named, wanted, places, strict=True):
        colour = palette.accent(line.accent)
        found.append(
            ax.annotate(
                line.label,
                (1.0, place / height),
                xycoords="axes fraction",
                xytext=(gap, 0),
                textcoords="offset points",
                va="center",
                color=colour,
                fontsize=text,
                annotation_clip=False,
            )
        )
        if abs(start - place) > text / 2:
            tie = Line2D(
                [1.0, 1.0 + (LEAD - 1.0) / width],
                [start / height, place / height],
                transform=ax.transAxes,
                color=colour,
                linewidth=style.GRID,
                clip_on=False,
            )
            found.append(ax.add_line(tie))
    return found


def inside(ax: Axes, panel: Chart, width: float, height: float, text: float, named: bool) -> None:
    """The words of marks and levels, and with `named` the names of curves that end early, within
    axes of `width` x `height` points."""
    place = placing.Placer(ax, width, height, text, placing.obstacles(ax, panel, width, height))
    last = _lasts(ax, panel)
    latest = max((x for _, x, _ in last), default=0.0)
    for line, x, _ in last if named else ():
        if x < latest:
            seen = place.along(line)
            wide = style.width(line.label, text)
            corners = []
            for across, up in seen[[-1, -len(seen) // 4, -len(seen) // 2]]:
                lefts = across + GAP, across - GAP - wide, across - wide / 2
                rises = (0, 0.9, -0.9, 1.6, -1.6)
                corners += [(left, up + by * text) for by in rises for left in lefts]
            place.put(line.label, corners, palette.accent(line.accent), math.inf)
    for mark, words in panel.marks:
        x, _ = placing.at(ax, mark, ax.get_ylim()[0], width, height)
        if words and 0 < x < width:
            low, high = 0.6 * text, height - 0.6 * text
            rows = [low, high, height / 4, 3 * height / 4, height / 2]
            rows = [rows[1], rows[0], *rows[2:]] if panel.marks_on_top else rows
            wide = style.width(words, text)
            place.put(words, [(left, y) for y in rows for left in (x + 2, x - 2 - wide)])
    for level, words in panel.levels:
        _, y = placing.at(ax, ax.get_xlim()[0], level, width, height)
        if words and 0 < y < height:
            wide = style.width(words, text)
            lefts = (2.0, width - wide - 2, (width - wide) / 2)
            place.put(words, [(x, y + up) for up in (0.7 * text, -0.7 * text) for x in lefts])


def keys(panels: Iterable[Chart]) -> list[Line]:
    """One line of each name that several charts share, for one key below them all; else none."""
    charts = list(panels)
    every = [{(line.label, line.accent, line.dash) for line in _named(c)} for c in charts]
    if len(charts) < 2 or not any(every):
        return []
    largest = max(every, key=len)
    if any(not one <= largest for one in every):
        return []
    first = charts[every.index(largest)]
    return list({line.label: line for line in _named(first)}.values())


def _named(panel: Chart) -> list[Line]:
    return [line for line in panel.lines if line.label and np.isfinite(line.y).any()]


def _lasts(ax: Axes, panel: Chart) -> list[tuple[Line, float, float]]:
    """Each named curve with its last point that is seen."""
    low, high = sorted(ax.get_ylim())
    found = []
    for line in _named(panel):
        seen = np.flatnonzero((line.y >= low) & (line.y <= high))
        if len(seen):
            found.append((line, float(line.x[seen[-1]]), float(line.y[seen[-1]])))
    return found
