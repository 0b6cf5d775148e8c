"""Where words go within axes: off other words, and off curves as far as can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from viz_core.figures.spec import Chart, Line
from viz_core.render.paper import style

LINE = 1.08  # height of a line of type, of its size
STEP = 1.5  # points between samples of a curve
CROWDED = 4  # samples that words of a mark or a level may cover; beyond that they are left out

Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Box:
    """A rectangle within axes, points from their lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def covers(self, points: Points) -> int:
        """How many of points [n, 2] lie in it."""
        x, y = points.T
        inside = (x >= self.left) & (x <= self.right) & (y >= self.bottom) & (y <= self.top)
        return int(inside.sum())

    def meets(self, other: Box) -> bool:
        """Whether the two have an area in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.bottom < other.top and other.bottom < self.top


@dataclass
class Placer:
    """Puts words within axes of `width` x `height` points, apart from each other, and where they
    cover the fewest of the places [n, 2] that curves and marks go through."""

    ax: Axes
    width: float
    height: float
    text: float
    taken_by_curves: Points
    taken: list[Box] = field(default_factory=list)

    def put(
        self,
        words: str,
        corners: Sequence[tuple[float, float]],
        colour: str = style.INK,
        most: float = CROWDED,
    ) -> None:
        """`words` at the best of `corners` (left, middle), the first of equals, if one is free and
        covers at most `most` of the curves' places."""
        half, wide = 0.5 * LINE * self.text, style.width(words, self.text)
        boxes = [Box(x - 1, y - half, x + wide + 1, y + half) for x, y in corners]
        free = [(box.covers(self.taken_by_curves), box) for box in boxes if self._free(box)]
        covered, best = min(free, key=lambda found: found[0], default=(math.inf, boxes[0]))
        if covered > most:
            return
        self.taken.append(best)
        self.ax.text(
            (best.left + 1) / self.width,
            (best.bottom + half) / self.height,
            words,
            transform=self.ax.transAxes,
            va="center_baseline",
            ha="left",
            color=colour,
            fontsize=self.text,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.8},
        )

    def along(self, line: Line) -> Points:
        """Where a curve can be seen, points from the lower left corner: [place, 2]."""
        low, high = sorted(self.ax.get_ylim())
        seen = (line.y >= low) & (line.y <= high)
        data = np.column_stack((line.x[seen], line.y[seen])).astype(np.float64)
        return points(self.ax, data, self.width, self.height)

    def _free(self, box: Box) -> bool:
        within = box.left >= -1 and box.right <= self.width + 1
        within = within and box.bottom >= -1 and box.top <= self.height + 1
        return within and not any(box.meets(other) for other in self.taken)


def at(ax: Axes, x: float, y: float, width: float, height: float) -> tuple[float, float]:
    """A point of the data in points from the axes' lower left corner."""
    across, up = points(ax, np.array([[x, y]]), width, height)[0]
    return float(across), float(up)


def points(ax: Axes, data: Points, width: float, height: float) -> Points:
    """Points of the data [n, 2] in points from the axes' lower left corner."""
    placed: Points = ax.transAxes.inverted().transform(ax.transData.transform(data))
    return placed * (width, height)


def obstacles(ax: Axes, panel: Chart, width: float, height: float) -> Points:
    """Places along all curves, marks and levels, near enough to each other to be met."""
    x, y = ax.get_xlim(), ax.get_ylim()
    paths = [np.array([[place, y[0]], [place, y[1]]]) for place, _ in panel.marks]
    paths += [np.array([[x[0], place], [x[1], place]]) for place, _ in panel.levels]
    for line in panel.lines:
        known = np.isfinite(line.x) & np.isfinite(line.y)
        paths.append(np.column_stack((line.x[known], line.y[known])))
    found = [np.zeros((0, 2))]
    for path in paths:
        if len(path):
            seen = np.clip(points(ax, path, width, height), -1e3, 1e4)
            along = np.concatenate(([0], np.hypot(*np.diff(seen, axis=0).T).cumsum()))
            every = np.linspace(0, along[-1], max(2, int(min(along[-1] / STEP, 5000))))
            found.append(np.column_stack([np.interp(every, along, seen[:, i]) for i in (0, 1)]))
    return np.concatenate(found)
