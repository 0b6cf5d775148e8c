"""Encodings by position alone: each one's attention map, and its curve by distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words, attention_maps
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line
from viz_core.types import Window
from viz_core.words import mark, say, sentences

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
    places = dict.fromkeys(p.where for p in drawn.panels if not isinstance(p, Chart))
    where = _words.rowed(places)
    first = (
        say(
            "Attention from position alone, no texts read: the softmax of the logits below over "
            "all keys not after the query; {where}; each cell shows the mean of its pairs; queries "
            "down, keys across.",
            where=where,
        )
        if sides[0].window.cell > 1
        else say(
            "Attention from position alone, no texts read: the softmax of the logits below over "
            "all keys not after the query; {where}; queries down, keys across.",
            where=where,
        )
    )
    scale = say("One colour scale for all maps.") if len(sides) > 1 else ""
    caption = sentences(first, scale, _standing(sides))
    alt = say("Attention by position alone: {titles}.", titles=_titles(sides))
    return replace(drawn, caption=caption, alt=sentences(alt, caption))


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
    x = Axis(say("distance between query and key (tokens)"), (start, longest), x_log, ticks)
    pad = 0.05 * (high - low)
    y = Axis(say("logit less that at distance 0 (nats)"), (low - pad, high + pad))
    panels = tuple(
        Chart(
            title=s.title,
            accent=s.encoding,
            lines=tuple(_lines(s, law, start)),
            x=x,
            y=y,
            marks=((float(s.trained_length), ""),),
            read=say("distance {x:,.0f}\n{y:.3f} nats"),
        )
        for s, law in zip(sides, shifted, strict=True)
    )
    words = [say("Logits from position alone by distance, no texts read.")]
    words += [_standing(sides)] if standing else []
    if any(len(law) > 1 for law in shifted):
        words.append(say("Faint: the other heads."))
    words.append(_words.dotted(sides[0].trained_length, longest))
    if deepest < low:
        share = 100 * np.exp(low)
        words.append(
            say(
                "Cut at {low:g} nats, {share:.1g} % of the weight at distance 0.",
                low=low,
                share=share,
            )
        )
    words += [_caveat(s) for s in sides if s.bound is not None]
    caption = sentences(*dict.fromkeys(words))
    alt = say("Logits by distance: {titles}.", titles=_titles(sides))
    return FigureSpec(panels, caption, sentences(alt, caption))


def _lines(side: Side, law: Array, start: int) -> list[Line]:
    """The other heads as background, the bound's factor, the head in focus on top."""
    x = np.arange(law.shape[1], dtype=np.float64)
    few = slice(start, None, -(-len(x) // POINTS))
    names = [say("head {head}", head=h + 1) for h in range(len(law))]
    others = say("the other heads")
    lines = [
        Line(names[h], x[few], row[few], side.encoding, _shade(h, law), group=others)
        for h, row in enumerate(law)
        if h != side.head
    ]
    if side.bound is not None:
        top = side.law[side.head, 0]
        scaled = top * side.bound / side.bound[0] - top
        shape = say("shape of Su's bound")
        lines.append(Line(shape, x[start:], scaled[start:], "ink", dash="dash", strong=True))
    name = names[side.head] if len(law) > 1 else say("every head")
    lines.append(Line(name, x[start:], law[side.head, start:], side.encoding, strong=True))
    return lines


def _shade(head: int, law: Array) -> float:
    return head / max(len(law) - 1, 1)


def _titles(sides: Sequence[Side]) -> str:
    return _words.rowed(s.title for s in sides)


def _standing(sides: Sequence[Side]) -> str:
    every = (say("{title}: {logits}.", title=s.title, logits=s.standing) for s in sides)
    return sentences(*dict.fromkeys(every))


def _caveat(side: Side) -> str:
    assert side.bound is not None
    return say(
        "Dashed: how the factor mean |S_j| of Su's upper bound falls, for constant q and k. The "
        "bound itself is {times:,.3g} times as large; it isn't RoPE's decay, and trained q and k "
        "may score highest at any distance.",
        times=side.bound[0],
    )


FIGURE = FigureCard("encoding-atlas", mark("Encodings by position alone"), "maps", build)
