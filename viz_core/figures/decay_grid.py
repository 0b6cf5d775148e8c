"""Decay of every head: a chart per encoding and layer, all on the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _words
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line
from viz_core.words import mark, say, sentences

DEEPEST = 12.0  # nats below the start: a weight of 6e-6; steep heads run on to hundreds

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One checkpoint's row: curves and laws [layer, head, distance], nats; laws NaN for none.

    `layers` counts from 1; means over `texts` texts of `length` tokens, without the first `sink`
    keys, distances weighted by `pairs` [distance].
    """

    name: str
    encoding: str
    layers: tuple[int, ...]
    curve: Array
    law: Array
    pairs: npt.NDArray[np.int64]
    length: int
    texts: int
    sink: int


def build(sides: Sequence[Side]) -> FigureSpec:
    """A row per side, a column per layer. Curves are shifted so that their law, or else they
    themselves, start at 0."""
    placed = [_placed(s) for s in sides]
    far = [c[..., 1:] for c, _ in placed]
    high = float(np.ceil(max(np.quantile(c, 0.999) for c in far) + 0.5))
    low = max(float(np.floor(min(c.min() for c in far))), -DEEPEST)
    longest = float(max(s.length for s in sides))
    x = Axis(say("distance between query and key (tokens)"), (0.0, longest))
    y = Axis(say("log-attention (nats, up to a constant)"), (low, high))
    panels = tuple(
        Chart(
            title=say("{name}, layer {layer}", name=side.name, layer=layer),
            accent=side.encoding,
            lines=tuple(_lines(side, curves[i], laws[i])),
            x=x,
            y=y,
            read=say("distance {x:,.0f}\n{y:.2f} nats"),
        )
        for side, (curves, laws) in zip(sides, placed, strict=True)
        for i, layer in enumerate(side.layers)
    )
    one = sides[0]
    lawless = [s.name for s in sides if not np.isfinite(s.law).any()]
    dashed = (
        say(
            "Dashed: the encoding's own law, each curve shifted so that it starts at 0; {names} "
            "without one.",
            names=_words.joined(lawless),
        )
        if lawless
        else say("Dashed: the encoding's own law, each curve shifted so that it starts at 0.")
    )
    caption = sentences(
        say(
            "Log-attention by distance with row fixed effects, all heads of each layer (paler from "
            "the first head to the last), over {over}; the first {sink} keys left out.",
            over=_words.texts(one.texts, one.length),
            sink=one.sink,
        ),
        dashed,
    )
    alt = say("Decay curves by layer: {names}.", names=_words.rowed(s.name for s in sides))
    return FigureSpec(panels, caption, sentences(alt, caption))


def _lines(side: Side, curves: Array, laws: Array) -> list[Line]:
    """One layer's heads, and over them the laws of those that have one."""
    d = np.arange(curves.shape[1], dtype=np.float64)
    last = max(len(curves) - 1, 1)
    names = [say("head {head}", head=h + 1) for h in range(len(curves))]
    lines = [Line(names[h], d, row, side.encoding, h / last) for h, row in enumerate(curves)]
    group = say("law")
    lines += [
        Line(say("{name}, law", name=names[h]), d, row, "ink", dash="dash", group=group)
        for h, row in enumerate(laws)
        if np.isfinite(row).any()
    ]
    return lines


def _placed(side: Side) -> tuple[Array, Array]:
    """(curves, laws) [layer, head, distance], at the same level and starting at 0."""
    gap = np.average(side.curve - side.law, axis=-1, weights=side.pairs)[..., None]
    known = np.isfinite(gap)
    start = np.where(known, side.law[..., :1] + gap, side.curve[..., :1])
    return side.curve - start, np.where(known, side.law + gap - start, np.nan)


FIGURE = FigureCard(
    "decay-grid", mark("Decay of every head, by encoding and layer"), "curves", build
)
