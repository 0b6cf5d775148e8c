"""A figure as data: arrays and words, no library objects. Every renderer draws from this alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from viz_core.types import Range

Values = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Dash = Literal["solid", "dash", "dot", "dashdot"]


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
class Guide:
    """A fine line on a map that says where to look: before a `key`, or, without one, along the
    diagonal at a `distance` between query and key, tokens; with a short `label`, or none."""

    distance: float = 0.0
    key: int | None = None
    label: str = ""


@dataclass(frozen=True)
class Heatmap:
    """One map: `value` [row, column] on token ranges `rows` x `columns`, cells of `cell` tokens.

    NaN where there is nothing to show. `unit` says what value is: "log10 A", "nats" or "A", and
    `of` what A is called, such as "mean A". `accent` names the encoding whose colour marks the
    panel; `mark` a length to draw lines at, `guides` more lines; `where` says ranges and cells in
    words.
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
    where: str = ""
    of: str = "A"
    guides: tuple[Guide, ...] = ()


@dataclass(frozen=True)
class Band:
    """An interval around a curve, and the words for what it is."""

    low: Values
    high: Values
    words: str


@dataclass(frozen=True)
class Line:
    """One curve: y over x, broken where y is NaN.

    `accent` names a colour of the palette: an encoding, a kind of RoPE scaling, or "ink"; `shade`
    0 .. 1 lightens it, as for heads within an encoding. `label` stands at the curve's end, and
    `notes` say more of each point. Lines of one `group` are background: drawn as one, faint.
    """

    name: str
    x: Values
    y: Values
    accent: str
    shade: float | None = None
    dash: Dash = "solid"
    strong: bool = False
    band: Band | None = None
    markers: bool = False
    label: str = ""
    notes: tuple[str, ...] = ()
    group: str = ""


@dataclass(frozen=True)
class Axis:
    """What is measured along an axis; limits and ticks (place, label) are None where free."""

    label: str
    range: tuple[float, float] | None = None
    log: bool = False
    ticks: tuple[tuple[float, str], ...] | None = None


@dataclass(frozen=True)
class Chart:
    """Curves on one pair of axes.

    `marks` are places on the x axis with their words, which stand at the bottom or, with
    `marks_on_top`, where rising curves leave room; `levels` are places on the y axis. `read` says
    a point in words: a format string with {x} and {y}, such as "distance {x:,.0f}\n{y:.2f} nats".
    """

    title: str
    accent: str
    lines: tuple[Line, ...]
    x: Axis
    y: Axis
    marks: tuple[tuple[float, str], ...] = ()
    marks_on_top: bool = False
    levels: tuple[tuple[float, str], ...] = ()
    read: str = "{x:,.4g}\n{y:,.4g}"


@dataclass(frozen=True)
class FigureSpec:
    """Panels in order, a caption that says what was averaged over what, and alt text.

    `parts`: how many panels each figure has that this one is composed of, in order; empty for one.
    """

    panels: tuple[Heatmap | Chart, ...]
    caption: str
    alt: str
    parts: tuple[int, ...] = ()


@dataclass(frozen=True)
class FigureCard:
    """What a module of this folder exposes as `FIGURE`: its name, and how to build it."""

    id: str
    title: str
    kind: Literal["maps", "curves", "wall"]
    build: Callable[..., FigureSpec]
