"""Log-attention by distance, a small panel per layer and head, several checkpoints in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _words
from viz_core.figures.spec import Axis, Band, Chart, FigureCard, FigureSpec, Line, Values
from viz_core.words import mark, say, sentences

DEEPEST = 16.0  # nats below the top: a weight of 1e-7; steep heads run on to hundreds
WHOLE = 64  # nearest distances, of which every one is drawn
MOST = 200  # points of a curve

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """The curves of all heads of one checkpoint, under one estimator.

    curve, error (standard error; None where the estimator has none) and law (NaN where a head has
    none) are [layer, head, distance], nats up to a constant per head; `pairs` [distance] stand
    behind each point, from `texts` texts of `length` tokens.
    """

    name: str
    accent: str
    curve: Array
    error: Array | None
    law: Array
    pairs: Integers
    texts: int
    length: int


def build(
    sides: Sequence[Side], estimator: str, keys: str, laws: bool = True, x_log: bool = False
) -> FigureSpec:
    """One panel per layer and head (L2 H4), on the same axes, each with the curves of all `sides`.

    Each curve is shifted so that its law starts at 0 (or, without a law, the curve itself): one
    constant per head is free. `estimator` and `keys` say in words how the curves were made, and
    what became of the first keys.
    """
    placed = [_placed(s) for s in sides]
    start = 1 if x_log else 0
    y = _axis([c[..., start:] for c, _ in placed])
    x = Axis(say("distance (tokens)"), (start, max(c.shape[2] for c, _ in placed)), x_log)
    layers, heads = min(c.shape[0] for c, _ in placed), min(c.shape[1] for c, _ in placed)
    panels = tuple(
        Chart(
            title=f"L{i + 1} H{h + 1}",
            accent="ink",
            lines=tuple(
                line
                for side, (curve, law) in zip(sides, placed, strict=True)
                for line in _lines(side, curve, law, (i, h), start, laws)
            ),
            x=x,
            y=y,
            read=say("distance {x:,.0f}\n{y:.2f} nats"),
        )
        for i in range(layers)
        for h in range(heads)
    )
    caption = _caption(sides, estimator, keys, laws)
    alt = say(
        "Decay curves of {layers} layers of {heads} heads: {names}.",
        layers=layers,
        heads=heads,
        names=_words.listed(s.name for s in sides),
    )
    return FigureSpec(panels, caption, sentences(alt, caption))


def thinned(curve: Values) -> Integers:
    """The distances at which a curve [distance] is drawn, MOST at most, in order.

    Every one of the nearest WHOLE; beyond them the lowest and the highest of each short stretch,
    so that ripples keep their height.
    """
    size = len(curve)
    if size <= MOST:
        return np.arange(size)
    step = math.ceil(2 * (size - WHOLE) / (MOST - WHOLE))
    part = np.pad(curve[WHOLE:], (0, -(size - WHOLE) % step), constant_values=np.nan)
    part = part.reshape(-1, step)
    known = np.isfinite(part)
    first = WHOLE + step * np.arange(len(part))
    ends = [first + np.where(known, part, np.inf).argmin(axis=1)]
    ends += [first + np.where(known, part, -np.inf).argmax(axis=1)]
    return np.unique(np.concatenate([np.arange(WHOLE), *(e[known.any(axis=1)] for e in ends)]))


def _placed(side: Side) -> tuple[Array, Array]:
    """(curve, law) [layer, head, distance], the law at the curve's level and both from 0 on."""
    known = np.isfinite(side.curve)
    weight = np.where(known, side.pairs, 0)
    gap = (np.where(known, side.curve - side.law, 0) * weight).sum(-1) / weight.sum(-1)
    law = side.law + gap[..., None]
    start = np.where(np.isnan(law[..., :1]), side.curve[..., :1], law[..., :1])
    return side.curve - start, law - start


def _lines(
    side: Side, curve: Array, law: Array, place: tuple[int, int], start: int, laws: bool
) -> list[Line]:
    values, model = curve[place], law[place]
    at = thinned(values)
    at = at[at >= start]
    band = None
    if side.error is not None and np.isfinite(side.error[place]).any():
        width = 2 * side.error[place][at]
        band = Band(values[at] - width, values[at] + width, say("two standard errors"))
    notes = tuple(say("{n:,} pairs", n=n) for n in side.pairs[at])
    x = at.astype(np.float64)
    drawn = [Line(side.name, x, values[at], side.accent, band=band, strong=True, notes=notes)]
    if laws and np.isfinite(model).any():
        at = thinned(model)
        at = at[at >= start]
        x = at.astype(np.float64)
        name = say("{name}, law", name=side.name)
        drawn.append(Line(name, x, model[at], "ink", dash="dash"))
    return drawn


def _axis(curves: Sequence[Array]) -> Axis:
    """Limits that hold nearly all of every curve, DEEPEST nats at most."""
    every = np.concatenate([c[np.isfinite(c)] for c in curves])
    high = math.ceil(2 * float(np.quantile(every, 0.999)) + 0.5) / 2
    low = math.floor(max(float(np.quantile(every, 0.001)), high - DEEPEST))
    return Axis(say("nats"), (low, high))


def _caption(sides: Sequence[Side], estimator: str, keys: str, laws: bool) -> str:
    first = sides[0]
    over = _words.texts(first.texts, first.length)
    pairs = min(int(s.pairs[-1]) for s in sides)
    words = [
        say(
            "Log-attention by distance, nats up to a constant per head: {estimator}, over {over}; "
            "{keys}; at least {pairs:,} pairs behind each point. L: layer, H: head.",
            estimator=estimator,
            over=over,
            keys=keys,
            pairs=pairs,
        )
    ]
    if any(s.error is not None for s in sides) and first.texts > 1:
        words.append(say("Bands: two standard errors by text."))
    if laws:
        none = [s.name for s in sides if np.isnan(s.law).all()]
        words.append(say("Dashed: the encoding's own law."))
        words += [say("{names} have none here.", names=_words.joined(none))] if none else []
    if any(s.curve.shape[2] > MOST for s in sides):
        words.append(
            say(
                "Past distance {whole} the lowest and the highest of each few distances are drawn.",
                whole=WHOLE,
            )
        )
    return sentences(*words)


FIGURE = FigureCard("head-curves", mark("Log-attention by distance, all heads"), "curves", build)
