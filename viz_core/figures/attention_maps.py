"""Attention maps side by side on one colour scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures.spec import FigureCard, FigureSpec, Heatmap, Scale, Values
from viz_core.types import SINK, Window

LN10 = math.log(10)
WHAT = {
    "probability": "attention A",
    "log": "geometric mean of attention A",
    "centred": "log-attention less its row's mean",
}


@dataclass(frozen=True)
class Side:
    """One map of the row: a window and the head in it, and the words for its heading."""

    window: Window
    head: int  # index within the window's heads
    title: str
    encoding: str
    trained_length: int


def build(sides: Sequence[Side], linear: bool = False) -> FigureSpec:
    """The figure of one window per side, all of one kind, on one scale.

    "probability" and "log" windows are drawn as log10 A, or as A when `linear`; "centred" ones in
    nats about zero. Limits come from all sides together, the first SINK keys left out.
    """
    kind = sides[0].window.kind
    values = [_shown(s.window.value[s.head], kind, linear) for s in sides]
    scale = _scale(values, [s.window for s in sides], kind, linear)
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
        )
        for s, v in zip(sides, values, strict=True)
    )
    w = sides[0].window
    over = "one text" if w.texts == 1 else f"{w.texts} texts"
    cell = "single tokens" if w.cell == 1 else f"cells of {w.cell} x {w.cell} tokens"
    what = WHAT[kind][0].upper() + WHAT[kind][1:]
    caption = (
        f"{what} over {over}, {w.rows[1] - w.rows[0]:,} tokens, {cell}; queries down, keys "
        f"across. One colour scale for all maps; its limits leave out the first {SINK} keys "
        "(the sink)."
    )
    alt = "Attention maps: " + "; ".join(s.title for s in sides) + ". " + caption
    return FigureSpec(panels, caption, alt)


def _shown(value: Values, kind: str, linear: bool) -> Values:
    if kind == "centred":
        return value
    value = np.where(np.isfinite(value), value, np.nan)
    shown: Values = (np.exp(value) if linear else value / LN10).astype(np.float32)
    return shown


def _scale(values: Sequence[Values], windows: Sequence[Window], kind: str, linear: bool) -> Scale:
    """Limits from the values shown, less the first SINK keys, which would take all the range."""
    kept = []
    for v, w in zip(values, windows, strict=True):
        first = max(0, math.ceil((SINK - w.columns[0]) / w.cell))
        inside = v[:, first:]
        kept.append(inside[np.isfinite(inside)])
    seen: npt.NDArray[np.float64] = np.concatenate(kept).astype(np.float64)
    if not len(seen):
        seen = np.zeros(1)
    if kind == "centred":
        top = max(1.0, float(min(np.quantile(np.abs(seen), 0.98), 12.0)))
        ends = (-top, 0.0, top)
        return Scale("balance", -top, top, f"{WHAT[kind]} (nats)", _ticks(ends, "{:+.1f}"))
    if linear:
        top = float(np.quantile(seen, 0.995))
        return Scale("cividis", 0.0, top, WHAT[kind], _ticks((0.0, top / 2, top), "{:.3g}"))
    high = float(np.ceil(2 * np.quantile(seen, 0.999)) / 2)
    # below a thousandth of an even share nothing is seen of where attention goes
    even = -math.log10(max(w.rows[1] for w in windows))
    low = max(float(np.floor(np.quantile(seen, 0.02))), math.floor(even - 2))
    whole = range(math.ceil(low), math.floor(min(high, 0)) + 1)
    ticks = tuple((float(t), f"1e{t}" if t else "1") for t in whole)
    return Scale("cividis", low, min(high, 0.0), WHAT[kind], ticks)


def _ticks(values: Sequence[float], form: str) -> tuple[tuple[float, str], ...]:
    return tuple((v, form.format(v)) for v in values)


FIGURE = FigureCard("attention-maps", "Attention maps side by side", "maps", build)
