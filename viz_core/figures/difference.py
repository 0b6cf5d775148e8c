"""What another setting does to a head: the difference of its maps, and its curves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.attention_maps import LN10
from viz_core.figures.spec import (
    Axis,
    Band,
    Chart,
    FigureCard,
    FigureSpec,
    Heatmap,
    Line,
    Scale,
)
from viz_core.types import Curve, Window
from viz_core.words import mark, say, sentences

LEAST, MOST = 0.5, 12.0  # nats that the colour scale reaches at least and at most, each way

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One head under one setting: its map of mean log-attention, and its curve.

    `head` counts within the arrays, which hold a layer's heads.
    """

    name: str
    accent: str
    window: Window
    curve: Curve
    head: int


def build(before: Side, after: Side, trained: int, length: int, what: str) -> FigureSpec:
    """A map of `after` less `before`, then both curves and their difference.

    Both windows are of the same tokens, kind "log". `what` names the head in words.
    """
    windows = before.window, after.window
    a, b = (w.value[s.head] for w, s in zip(windows, (before, after), strict=True))
    nats = (b - a).astype(np.float64)
    w = after.window
    pair = {"after": after.name, "before": before.name}
    difference = Heatmap(
        title=say("{after} less {before}", **pair),
        accent=after.accent,
        value=nats / LN10,
        count=w.count,
        rows=w.rows,
        columns=w.columns,
        cell=w.cell,
        unit="log10 A",
        scale=_scale(nats),
        mark=trained,
        where=_words.where(what, w.cell),
        of=say("A over that of {name}", name=before.name),
    )
    caption = say(
        "{after} less {before}, the same weights, {head}: mean log-attention over {over}, in "
        "{cells}; above 0 attention is more. Curves: row fixed effects, the first {sink} keys left "
        "out, each up to a constant (here its mean is 0); bands: two standard errors by text.",
        **pair,
        head=what,
        over=_words.texts(w.texts, length),
        cells=_words.cells(w.cell),
        sink=after.curve.sink,
    )
    panels = (difference, _curves(before, after, trained), _gap(before, after, trained))
    alt = sentences(say("Difference map and curves."), caption)
    return FigureSpec(panels, caption, alt)


def _scale(nats: Array) -> Scale:
    """Diverging about 0; values are decades, and ticks say them in nats."""
    seen = np.abs(nats[np.isfinite(nats)])
    top = float(np.quantile(seen, 0.98)) if len(seen) else LEAST
    top = min(max(math.ceil(10 * top) / 10, LEAST), MOST)
    nats_at = (-top, -top / 2, 0.0, top / 2, top)
    ticks = tuple((v / LN10, f"{v:+.2g}".replace("-", "−") if v else "0") for v in nats_at)
    label = say("difference of log-attention (nats)")
    return Scale("balance", -top / LN10, top / LN10, label, ticks)


def _level(curve: Curve, head: int) -> Array:
    """A head's curve about its mean over pairs: its constant is free."""
    value = curve.value[head]
    return np.asarray(value - np.average(value, weights=curve.pairs))


def _curves(before: Side, after: Side, trained: int) -> Chart:
    lines = []
    for side, accent in ((before, "ink"), (after, after.accent)):
        y, width = _level(side.curve, side.head), 2 * side.curve.error[side.head]
        known = np.isfinite(width).any()
        band = Band(y - width, y + width, say("two standard errors")) if known else None
        x = np.arange(len(y), dtype=np.float64)
        lines.append(
            Line(side.name, x, y, accent, strong=accent != "ink", band=band, label=side.name)
        )
    every = np.concatenate([line.y[1:] for line in lines])
    low, high = np.quantile(every, (0.002, 0.998))
    pad = 0.08 * max(high - low, 0.1)
    return Chart(
        title=say("Both curves"),
        accent="ink",
        lines=tuple(lines),
        x=Axis(say("distance (tokens)"), (0, len(lines[0].x))),
        y=Axis(say("nats about the mean"), (float(low - pad), float(high + pad))),
        marks=((float(trained), say("trained length")),),
        read=say("distance {x:,.0f}\n{y:.2f} nats"),
    )


def _gap(before: Side, after: Side, trained: int) -> Chart:
    y = _level(after.curve, after.head) - _level(before.curve, before.head)
    x = np.arange(len(y), dtype=np.float64)
    return Chart(
        title=say("Their difference"),
        accent="ink",
        lines=(Line(say("difference"), x, y, after.accent, strong=True),),
        x=Axis(say("distance (tokens)"), (0, len(y))),
        y=_axes.values([y[1:]], say("nats"), False, (0.0,)),
        marks=((float(trained), ""),),
        levels=((0.0, ""),),
        read=say("distance {x:,.0f}\n{y:+.2f} nats"),
    )


FIGURE = FigureCard("difference", mark("The same head under another setting"), "maps", build)
