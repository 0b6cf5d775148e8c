"""Slopes of all heads: what the encoding set against what is measured, and how far they differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line, Values
from viz_core.words import mark, say, sentences

FEW = 4  # ticks: on a narrow page more would be turned
APART = 0.14  # of a step between heads: how far the points of neighbouring layers stand apart

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """A checkpoint whose encoding sets its heads' slopes, all in nats per token, falling ones < 0.

    nominal [head]; value, low, high [layer, head]: the mean over `texts` texts of `length` tokens
    and its 95 % interval (NaN from a single text); `error`: the median of |value / nominal - 1|.
    """

    name: str
    accent: str
    nominal: Array
    value: Array
    low: Array
    high: Array
    error: float
    texts: int
    length: int


def build(side: Side) -> FigureSpec:
    """Two panels: measured against nominal on logarithmic axes, and the relative error by head."""
    left, right = _scatter(side), _errors(side)
    over = _words.texts(side.texts, side.length)
    rising = int((side.value >= 0).sum())
    caption = sentences(
        say(
            "{name}: slope of log-attention within rows, by head and layer (paler from the first "
            "layer to the last), over {over}. First, against the slope that the encoding set; "
            "dashed: equal. Then, how far off, as a share of it.",
            name=side.name,
            over=over,
        ),
        say("Bars: 95 % intervals over texts.") if side.texts > 1 else "",
        say("1 head rises: not in the first.") if rising == 1 else "",
        say("{rising} heads rise: not in the first.", rising=rising) if rising > 1 else "",
    )
    alt = sentences(say("Measured slopes."), caption)
    return FigureSpec((left, right), caption, alt)


def _scatter(side: Side) -> Chart:
    x = -side.nominal
    y = np.where(side.value < 0, -side.value, np.nan)
    bars = [np.where(edge < 0, -edge, np.nan) for edge in (side.low, side.high)]
    seen = np.concatenate([x, *y])
    low, high = float(np.nanmin(seen)) / 1.5, float(np.nanmax(seen)) * 1.5
    ends = np.array([low, high])
    lines = [Line(say("measured = nominal"), ends, ends, "ink", dash="dash")]
    for i in reversed(range(len(y))):  # the first layer on top
        lines += _points(side, i, x, y[i], bars[0][i], bars[1][i])
    ticks = tuple((2.0**-n, f"1/{2**n}") for n in range(20) if low < 2.0**-n < high)
    ticks = ticks[1 :: len(ticks) // FEW] if len(ticks) > FEW else ticks
    return Chart(
        title=say("{name} · median error {error:.1f} %", name=side.name, error=100 * side.error),
        accent=side.accent,
        lines=tuple(lines),
        x=Axis(say("nominal slope (nats per token, log scale)"), (low, high), True, ticks),
        y=Axis(say("measured (log scale)"), (low, high), True, ticks),
        read=say("{y:.5f} nats per token"),
    )


def _errors(side: Side) -> Chart:
    relative = [100 * (v / side.nominal - 1) for v in (side.value, side.low, side.high)]
    layers, heads = side.value.shape
    lines: list[Line] = []
    for i in range(layers):
        place = np.arange(1, heads + 1) + _aside(i, layers)
        lines += _points(side, i, place, *(r[i] for r in relative))
    label = say("measured / nominal − 1 (%)")
    y = _axes.values([r.ravel() for r in relative], label, False, (0.0,))
    return Chart(
        title=say("Error by head"),
        accent=side.accent,
        lines=tuple(lines),
        x=Axis(say("head"), (0.4, heads + 0.6), False, _axes.labelled(range(1, heads + 1))),
        y=y,
        levels=((0.0, ""),),
        read=say("{y:+.2f} %"),
    )


def _aside(layer: int, layers: int) -> float:
    """How far a layer's points stand from their head's place, in steps, lest they hide others."""
    return APART * (layer - (layers - 1) / 2)


def _points(side: Side, layer: int, x: Values, y: Values, low: Values, high: Values) -> list[Line]:
    """One layer's points, unconnected, and the bars of their intervals."""
    shade = layer / max(len(side.value) - 1, 1)
    notes = tuple(
        say("head {head}, nominal {slope:.5f}", head=h + 1, slope=-m)
        + ("\n" + _words.between(f"{-b:.5f}", f"{-a:.5f}") if a == a else "")
        for h, (m, a, b) in enumerate(
            zip(side.nominal, side.low[layer], side.high[layer], strict=True)
        )
    )
    gaps: Values = np.full(len(x), np.nan)
    return [
        Line(
            say("layer {layer}, 95 %", layer=layer + 1),
            _woven(x, x, gaps),
            _woven(low, high, gaps),
            side.accent,
            shade,
        ),
        Line(
            say("layer {layer}", layer=layer + 1),
            _woven(x, gaps),
            _woven(y, gaps),
            side.accent,
            shade,
            strong=True,
            markers=True,
            notes=tuple(note for n in notes for note in (n, "")),
        ),
    ]


def _woven(*parts: Values) -> Array:
    """The first of each part, then the second of each, ...: NaN last leaves gaps between them."""
    return np.stack(parts, axis=1).astype(np.float64).ravel()


FIGURE = FigureCard("slopes", mark("Slopes, nominal and measured"), "curves", build)
