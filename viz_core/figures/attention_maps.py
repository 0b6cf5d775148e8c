"""Attention maps side by side on one colour scale, whole or in part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _marks, _words
from viz_core.figures.spec import FigureCard, FigureSpec, Heatmap, Scale, Values
from viz_core.signatures.landmarks import Landmarks
from viz_core.types import SINK, Range, Window
from viz_core.words import mark, say, sentences

LN10 = math.log(10)
NARROWEST = 0.5  # decades that a colour scale spans at least
TICKS = 7  # at most, on the colour bar
WHAT = {
    "probability": mark("attention A"),
    "log": mark("geometric mean of attention A"),
    "centred": mark("log-attention less its row's mean"),
}
SHOWN = {  # the same, as the caption begins
    "probability": mark("Attention A over {over} of {lengths} tokens"),
    "log": mark("Geometric mean of attention A over {over} of {lengths} tokens"),
    "centred": mark("Log-attention less its row's mean over {over} of {lengths} tokens"),
}


@dataclass(frozen=True)
class Side:
    """One map of the row: a window, the head in it, the words for its heading, and the tokens of
    the text that the window is of; with its landmarks where they are to be drawn."""

    window: Window
    head: int  # index within the window's heads
    title: str
    encoding: str
    trained_length: int
    length: int
    marks: Landmarks | None = None

    @property
    def whole(self) -> bool:
        """Whether the window is the whole map."""
        return self.window.rows == self.window.columns == (0, self.length)


def looking(side: Side) -> str:
    """Where to look on a map with landmarks, in words; why there is nothing, where there isn't."""
    assert side.marks is not None
    return _marks.words(side.marks, side.window.rows, side.window.columns)


def heading(name: str, layer: int, head: int) -> str:
    """What a head's panel is called; `layer` and `head` from 1. It is taken apart at its commas
    where panels stand as a table, so that each part is said once."""
    return say(
        "{name}, head {head}",
        name=say("{name}, layer {layer}", name=name, layer=layer),
        head=head,
    )


def ranges(rows: Range, columns: Range) -> str:
    """ "queries 512–767, keys 0–255": both ends are in it."""
    (top, bottom), (left, right) = ((first, last - 1) for first, last in (rows, columns))
    down = (
        say("query {query:,}", query=top)
        if top == bottom
        else say("queries {first:,}–{last:,}", first=top, last=bottom)
    )
    across = (
        say("key {key:,}", key=left)
        if left == right
        else say("keys {first:,}–{last:,}", first=left, last=right)
    )
    return say("{queries}, {keys}", queries=down, keys=across)


def build(sides: Sequence[Side], linear: bool = False) -> FigureSpec:
    """The figure of one window per side, all of one kind, on one scale.

    Ranges and cells may differ from side to side. "probability" and "log" windows are drawn as
    log10 A, or as A when `linear`; "centred" ones in nats about zero. Limits come from all sides
    together, the first SINK keys left out.
    """
    windows = [s.window for s in sides]
    kind, pooling = windows[0].kind, windows[0].pooling
    what = say(WHAT[kind])
    if kind == "probability" and pooling == "max" and any(w.cell > 1 for w in windows):
        what = say("largest attention A of a cell")
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
            where=_words.where(_place(s), s.window.cell),
            of=_name(s.window),
            guides=_marks.guides(s.marks, s.window.rows, s.window.columns) if s.marks else (),
        )
        for s, v in zip(sides, values, strict=True)
    )
    lengths = _words.joined([f"{n:,}" for n in dict.fromkeys(s.length for s in sides)])
    over = say(SHOWN[kind], over=_words.over(windows[0].texts), lengths=lengths)
    shown = list(dict.fromkeys(_shown_part(s) for s in sides))
    parts = _words.rowed(shown)
    if len(shown) > 1:
        first = say(
            "{over}: from left to right {parts}; queries down, keys across.", over=over, parts=parts
        )
    else:
        first = say("{over}: {parts}; queries down, keys across.", over=over, parts=parts)
    caption = sentences(
        first,
        say("One colour scale for all maps.") if len(sides) > 1 else "",
        say("The limits of the colour scale leave out the first {sink} keys (the sink).", sink=SINK)
        if any(w.columns[0] < SINK for w in windows)
        else "",
        _marks.legend((s.marks for s in sides if s.marks), (w.columns for w in windows)),
    )
    titles = _words.rowed(s.title for s in sides)
    alt = say("Attention maps: {titles}.", titles=titles)
    return FigureSpec(panels, caption, sentences(alt, caption))


def _place(side: Side) -> str:
    w = side.window
    if side.whole:
        return say("all {length:,} tokens", length=side.length)
    return ranges(w.rows, w.columns)


def _shown_part(side: Side) -> str:
    """What the caption says of one map's window."""
    w = side.window
    about = {
        "place": say("all of it") if side.whole else ranges(w.rows, w.columns),
        "cells": _words.cells(w.cell),
    }
    if w.cell == 1:
        return say("{place}, in {cells}", **about)
    if w.kind == "probability" and w.pooling == "max":
        return say("{place}, in {cells}, each the largest of its pairs", **about)
    return say("{place}, in {cells}, each the mean of its pairs", **about)


def _name(window: Window) -> str:
    """What a cell's A is called."""
    if window.kind == "log":
        return say("geometric mean of A")
    if window.cell == 1:
        return "A"
    return say("largest A") if window.pooling == "max" else say("mean A")


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
        label = say("{what} (nats)", what=what)
        return Scale("balance", -top, top, label, _ticks(ends, "{:+.1f}"))
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


FIGURE = FigureCard("attention-maps", mark("Attention maps side by side"), "maps", build)
