"""Attention maps side by side on one colour scale, whole or in part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures.spec import FigureCard, FigureSpec, Heatmap, Scale, Values
from viz_core.types import SINK, Range, Window

LN10 = math.log(10)
NARROWEST = 0.5  # decades that a colour scale spans at least
TICKS = 7  # at most, on the colour bar
WHAT = {
    "probability": "attention A",
    "log": "geometric mean of attention A",
    "centred": "log-attention less its row's mean",
}


@dataclass(frozen=True)
class Side:
    """One map of the row: a window, the head in it, the words for its heading, and the tokens of
    the text that the window is of."""

    window: Window
    head: int  # index within the window's heads
    title: str
    encoding: str
    trained_length: int
    length: int

    @property
    def whole(self) -> bool:
        """Whether the window is the whole map."""
        return self.window.rows == self.window.columns == (0, self.length)


def ranges(rows: Range, columns: Range) -> str:
    """ "queries 512–767, keys 0–255": both ends are in it."""
    return f"{_range('quer', 'y', 'ies', rows)}, {_range('key', '', 's', columns)}"


def build(sides: Sequence[Side], linear: bool = False) -> FigureSpec:
    """The figure of one window per side, all of one kind, on one scale.

    Ranges and cells may differ from side to side. "probability" and "log" windows are drawn as
    log10 A, or as A when `linear`; "centred" ones in nats about zero. Limits come from all sides
    together, the first SINK keys left out.
    """
    windows = [s.window for s in sides]
    kind, pooling = windows[0].kind, windows[0].pooling
    what = WHAT[kind]
    if kind == "probability" and pooling == "max" and any(w.cell > 1 for w in windows):
        what = f"largest {what} of a cell"
    values = [_shown(s.window.value[s.head], kind, linear) for s in sides]
    scale = _scale(values, windows, kind, linear, what)
    unit = "nats" if kind == "centred" else "A" if linear else "log10 A"
    panels = tuple(
        Heatmap(
            title=s.title,
            accent=s.encoding,
            value=v,
            count=s.window.count,
            rows=s.window.rows,
            columns=s.window.columns,
            cell=s.window.cell,
            unit=unit,
            scale=scale,
            mark=s.trained_length,
            where=f"{_place(s)}, {_cells(s.window)}",
            of=_name(s.window),
        )
        for s, v in zip(sides, values, strict=True)
    )
    over = "one text" if windows[0].texts == 1 else f"{windows[0].texts} texts"
    lengths = " and ".join(f"{n:,}" for n in dict.fromkeys(s.length for s in sides))
    shown = list(dict.fromkeys(_shown_part(s) for s in sides))
    caption = (
        f"{WHAT[kind][0].upper()}{WHAT[kind][1:]} over {over} of {lengths} tokens: "
        f"{'from left to right ' if len(shown) > 1 else ''}{'; '.join(shown)}; queries down, keys "
        "across."
    )
    if len(sides) > 1:
        caption += " One colour scale for all maps."
    if any(w.columns[0] < SINK for w in windows):
        caption += f" The limits of the colour scale leave out the first {SINK} keys (the sink)."
    alt = "Attention maps: " + "; ".join(s.title for s in sides) + ". " + caption
    return FigureSpec(panels, caption, alt)


def _place(side: Side) -> str:
    w = side.window
    return f"all {side.length:,} tokens" if side.whole else ranges(w.rows, w.columns)


def _shown_part(side: Side) -> str:
    """What the caption says of one map's window."""
    w = side.window
    place = "all of it" if side.whole else ranges(w.rows, w.columns)
    largest = w.kind == "probability" and w.pooling == "max"
    each = f", each the {'largest' if largest else 'mean'} of its pairs" if w.cell > 1 else ""
    return f"{place}, in {_cells(w)}{each}"


def _range(stem: str, one: str, many: str, span: Range) -> str:
    first, last = span[0], span[1] - 1
    return f"{stem}{one} {first:,}" if first == last else f"{stem}{many} {first:,}–{last:,}"


def _cells(window: Window) -> str:
    n = window.cell
    return "single tokens" if n == 1 else f"cells of {n} × {n} tokens"


def _name(window: Window) -> str:
    """What a cell's A is called."""
    if window.kind == "log":
        return "geometric mean of A"
    if window.cell == 1:
        return "A"
    return "largest A" if window.pooling == "max" else "mean A"


def _shown(value: Values, kind: str, linear: bool) -> Values:
    if kind == "centred":
        return value
    value = np.where(np.isfinite(value), value, np.nan)
    shown: Values = (np.exp(value) if linear else value / LN10).astype(np.float32)
    return shown


def _scale(
    values: Sequence[Values], windows: Sequence[Window], kind: str, linear: bool, what: str
) -> Scale:
    """Limits from the values shown, less the first SINK keys, which would take all the range."""
    seen = _finite(values, [max(0, math.ceil((SINK - w.columns[0]) / w.cell)) for w in windows])
    if not len(seen):  # a window on the sink alone
        seen = _finite(values, [0] * len(values))
    if kind == "centred":
        top = max(1.0, float(min(np.quantile(np.abs(seen), 0.98), 12.0)))
        ends = (-top, 0.0, top)
        return Scale("balance", -top, top, f"{what} (nats)", _ticks(ends, "{:+.1f}"))
    if linear:
        top = float(np.quantile(seen, 0.995))
        return Scale("cividis", 0.0, top, what, _ticks((0.0, top / 2, top), "{:.3g}"))
    high = min(float(np.ceil(2 * np.quantile(seen, 0.999)) / 2), 0.0)
    low = float(np.floor(np.quantile(seen, 0.02)))
    # below a thousandth of an even share nothing is seen of where attention goes
    faint = math.floor(-math.log10(max(w.rows[1] for w in windows)) - 2)
    if high > faint:  # else the whole window is as faint as that
        low = max(low, faint)
    low = min(low, high - NARROWEST)
    return Scale("cividis", low, high, what, _powers(low, high))


def _powers(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Ticks for log10 A: powers of ten, with 2 and 5 between them where they are few."""
    tens = list(range(math.floor(low), math.floor(high) + 1))
    steps = (1,) if high - low >= 2 else (1, 2, 5)
    places = [(t + math.log10(m), f"{m}e{t}" if t else f"{m}") for t in tens for m in steps]
    inside = [(place, label) for place, label in places if low <= place <= high]
    return tuple(inside[:: math.ceil(len(inside) / TICKS)])


def _finite(values: Sequence[Values], first: Sequence[int]) -> npt.NDArray[np.float64]:
    """All finite values, of each map those from column `first` on."""
    kept = [v[:, c:] for v, c in zip(values, first, strict=True)]
    seen: npt.NDArray[np.float64] = np.concatenate([v[np.isfinite(v)] for v in kept])
    return seen.astype(np.float64)


def _ticks(values: Sequence[float], form: str) -> tuple[tuple[float, str], ...]:
    return tuple((v, form.format(v)) for v in values)


FIGURE = FigureCard("attention-maps", "Attention maps side by side", "maps", build)
