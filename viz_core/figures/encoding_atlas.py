"""Encodings by position alone: each one's attention map, and its curve by distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, attention_maps
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line
from viz_core.types import Window

DEEPEST = 8.0  # nats below distance 0: a weight of 3e-4; steep heads run on to thousands
POINTS = 2048  # of each curve in the background, at most

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One encoding with nothing in its logits but position.

    `window` holds the map of one head. `law` [head, distance] is the logit in nats, a single row
    where all heads are alike; `head` is the row in focus. `standing` says what the logits are made
    of, and what stands for what training would fill in. `bound` [distance] is the factor of an
    upper bound on the law, a pure number, if there is one.
    """

    title: str
    encoding: str
    trained_length: int
    length: int
    head: int
    window: Window
    law: Array
    standing: str
    bound: Array | None = None


def build(sides: Sequence[Side]) -> FigureSpec:
    """The maps side by side on one colour scale, log10 A."""
    drawn = attention_maps.build(
        [
            attention_maps.Side(s.window, 0, s.title, s.encoding, s.trained_length, s.length)
            for s in sides
        ]
    )
    where = "; ".join(dict.fromkeys(p.where for p in drawn.panels if not isinstance(p, Chart)))
    mean = "; each cell shows the mean of its pairs" if sides[0].window.cell > 1 else ""
    caption = (
        "Attention from position alone, no texts read: the softmax of the logits below over all "
        f"keys not after the query; {where}{mean}; queries down, keys across."
        f"{' One colour scale for all maps.' * (len(sides) > 1)} {_standing(sides)}"
    )
    alt = "Attention by position alone: " + "; ".join(s.title for s in sides) + ". " + caption
    return replace(drawn, caption=caption, alt=alt)


def curves(sides: Sequence[Side], x_log: bool = False, standing: bool = True) -> FigureSpec:
    """The logits by distance, less those at distance 0: one panel per side, on the same axes.

    With `standing` the caption says what the logits are made of, as that of the maps does.

    A bound's factor is dashed, scaled to start where its law does: its shape, no bound there.
    """
    start = int(x_log)
    shifted = [s.law - s.law[:, :1] for s in sides]
    deepest = min(float(law.min()) for law in shifted)
    low, high = max(deepest, -DEEPEST), max(float(law.max()) for law in shifted)
    low = min(low, high - 1)  # or a flat law would show its rounding
    longest = max(s.length for s in sides)
    ticks = _axes.labelled(_axes.round_numbers(1, longest)) if x_log else None
    x = Axis("distance between query and key (tokens)", (start, longest), x_log, ticks)
    pad = 0.05 * (high - low)
    y = Axis("logit less that at distance 0 (nats)", (low - pad, high + pad))
    panels = tuple(
        Chart(
            title=s.title,
            accent=s.encoding,
            lines=tuple(_lines(s, law, start)),
            x=x,
            y=y,
            marks=((float(s.trained_length), ""),),
            read="distance {x:,.0f}\n{y:.3f} nats",
        )
        for s, law in zip(sides, shifted, strict=True)
    )
    words = ["Logits from position alone by distance, no texts read."]
    words += [_standing(sides)] if standing else []
    if any(len(law) > 1 for law in shifted):
        words.append("Faint: the other heads.")
    trained = sides[0].trained_length
    if trained < longest:
        words.append(f"Dotted: the trained length, {trained:,} tokens.")
    if deepest < low:
        words.append(f"Cut at {low:g} nats, {100 * np.exp(low):.1g} % of the weight at distance 0.")
    words += [_caveat(s) for s in sides if s.bound is not None]
    caption = " ".join(dict.fromkeys(words))
    alt = "Logits by distance: " + "; ".join(s.title for s in sides) + ". " + caption
    return FigureSpec(panels, caption, alt)


def _lines(side: Side, law: Array, start: int) -> list[Line]:
    """The other heads as background, the bound's factor, the head in focus on top."""
    x = np.arange(law.shape[1], dtype=np.float64)
    few = slice(start, None, -(-len(x) // POINTS))
    lines = [
        Line(f"head {h + 1}", x[few], row[few], side.encoding, _shade(h, law), group="other heads")
        for h, row in enumerate(law)
        if h != side.head
    ]
    if side.bound is not None:
        top = side.law[side.head, 0]
        scaled = top * side.bound / side.bound[0] - top
        lines.append(
            Line("shape of Su's bound", x[start:], scaled[start:], "ink", dash="dash", strong=True)
        )
    name = f"head {side.head + 1}" if len(law) > 1 else "every head"
    lines.append(Line(name, x[start:], law[side.head, start:], side.encoding, strong=True))
    return lines


def _shade(head: int, law: Array) -> float:
    return head / max(len(law) - 1, 1)


def _standing(sides: Sequence[Side]) -> str:
    return " ".join(dict.fromkeys(f"{s.title}: {s.standing}." for s in sides))


def _caveat(side: Side) -> str:
    assert side.bound is not None
    return (
        "Dashed: how the factor mean |S_j| of Su's upper bound falls, for constant q and k. The "
        f"bound itself is {side.bound[0]:,.3g} times as large; it isn't RoPE's decay, and trained "
        "q and k may score highest at any distance."
    )


FIGURE = FigureCard("encoding-atlas", "Encodings by position alone", "maps", build)
