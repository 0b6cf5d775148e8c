"""Decay of every head: a chart per encoding and layer, all on the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line

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
    x = Axis("distance between query and key (tokens)", (0.0, float(max(s.length for s in sides))))
    y = Axis("log-attention (nats, up to a constant)", (low, high))
    panels = tuple(
        Chart(
            title=f"{side.name}, layer {layer}",
            accent=side.encoding,
            lines=tuple(_lines(side, curves[i], laws[i])),
            x=x,
            y=y,
            read="distance {x:,.0f}\n{y:.2f} nats",
        )
        for side, (curves, laws) in zip(sides, placed, strict=True)
        for i, layer in enumerate(side.layers)
    )
    one = sides[0]
    lawless = [s.name for s in sides if not np.isfinite(s.law).any()]
    caption = (
        f"Log-attention by distance with row fixed effects, all heads of each layer (paler from "
        f"the first head to the last), over {one.texts} texts of {one.length:,} tokens; the first "
        f"{one.sink} keys left out. Dashed: the encoding's own law, each curve shifted so that it "
        f"starts at 0{'; ' + _listed(lawless) + ' without one' if lawless else ''}."
    )
    alt = "Decay curves by layer: " + "; ".join(s.name for s in sides) + ". " + caption
    return FigureSpec(panels, caption, alt)


def _lines(side: Side, curves: Array, laws: Array) -> list[Line]:
    """One layer's heads, and over them the laws of those that have one."""
    d = np.arange(curves.shape[1], dtype=np.float64)
    last = max(len(curves) - 1, 1)
    lines = [Line(f"head {h + 1}", d, row, side.encoding, h / last) for h, row in enumerate(curves)]
    lines += [
        Line(f"head {h + 1}, law", d, row, "ink", dash="dash", group="law")
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


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


FIGURE = FigureCard("decay-grid", "Decay of every head, by encoding and layer", "curves", build)
