"""A figure as data: arrays and words, no library objects. Every renderer draws from this alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from viz_core.types import Range

Values = npt.NDArray[np.float32] | npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """How values become colours: limits in the values' own unit, and what the bar says.

    `ticks` pairs a value with its label. Values outside the limits take the colour of the end.
    """

    colours: str  # the name of a colour map
    low: float
    high: float
    label: str
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Heatmap:
    """One map: `value` [row, column] on token ranges `rows` x `columns`, cells of `cell` tokens.

    NaN where there is nothing to show. `unit` says what value is: "log10 A", "nats" or "A".
    `accent` names the encoding whose colour marks the panel; `mark` a length to draw lines at.
    """

    title: str
    accent: str
    value: Values
    count: npt.NDArray[np.int64]
    rows: Range
    columns: Range
    cell: int
    unit: str
    scale: Scale
    mark: int | None = None


@dataclass(frozen=True)
class Line:
    """One curve: y over x. `accent` names the encoding; `shade` 0 .. 1 orders heads within it."""

    name: str
    x: Values
    y: Values
    accent: str
    shade: float = 0.5
    dashed: bool = False
    strong: bool = False
    error: Values | None = None


@dataclass(frozen=True)
class Chart:
    """Curves on one pair of axes; limits are None where the data decide."""

    title: str
    accent: str
    lines: tuple[Line, ...]
    x_label: str
    y_label: str
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    x_log: bool = False
    marks: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class FigureSpec:
    """Panels in order, a caption that says what was averaged over what, and alt text."""

    panels: tuple[Heatmap | Chart, ...]
    caption: str
    alt: str


@dataclass(frozen=True)
class FigureCard:
    """What a module of this folder exposes as `FIGURE`: its name, and how to build it."""

    id: str
    title: str
    kind: Literal["maps", "curves", "wall"]
    build: Callable[..., FigureSpec]
