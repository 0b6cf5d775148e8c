"""The staircase next to the ripples: maps, decay with its law, reach by head, and spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words, attention_maps
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Heatmap, Line
from viz_core.types import Curve, Window
from viz_core.words import mark, say, sentences

DEEPEST = 12.0  # nats below the start: a weight of 6e-6; steep heads run on to hundreds
ROOM = 0.5  # nats above the highest curve

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One encoding's part: maps and curves of the heads `shown` (from 0) of one layer (from 1).

    `window` and `curve` hold all heads of the layer, `law` [head, distance] is in nats, NaN where
    there is none. `reach` [head], tokens: the distance that holds `Reach.share` of each head's
    attention. `amplitude` [head, bin], nats, of the curve's swings. `ripple` [head, 3]: the share
    of the swings that RoPE's frequencies explain, that of random ones, and p.
    """

    name: str
    encoding: str
    trained_length: int
    length: int
    layer: int
    shown: tuple[int, ...]
    window: Window
    curve: Curve
    law: Array
    reach: Array
    amplitude: Array
    ripple: Array


@dataclass(frozen=True)
class Reach:
    """What reach is compared with: `law` [head], of the first side's bias alone; `even`, of uniform
    attention. `grows` holds for the law and both sides the factor from head to head with its 95 %
    interval, and p for heads in random order."""

    share: float
    law: Array
    even: float
    grows: tuple[tuple[float, float, float, float], ...]


def build(
    sides: tuple[Side, Side], reach: Reach, frequency: Array, wavelengths: Sequence[float]
) -> FigureSpec:
    """ALiBi's side and RoPE's; `frequency` [bin], cycles per token, is that of their amplitudes.

    `wavelengths`, tokens: RoPE's own.
    """
    maps = attention_maps.build(
        [
            attention_maps.Side(
                s.window,
                h,
                attention_maps.heading(s.name, s.layer, h + 1),
                s.encoding,
                s.trained_length,
                s.length,
            )
            for s in sides
            for h in s.shown
        ]
    )
    charts = (*_decay(sides), _stairs(sides, reach), _spectrum(sides, frequency, wavelengths))
    first = sides[0]
    panels: tuple[Heatmap | Chart, ...] = (*maps.panels, *charts)
    trained = first.trained_length
    names = {"stairs": first.name, "waves": sides[1].name}
    length = (
        say("the trained length")
        if first.length == trained
        else say("trained at {length:,}", length=trained)
    )
    caption = sentences(
        say(
            "The staircase of {stairs} (a) next to the ripples of {waves} (b): geometric mean of "
            "attention over {over} ({length}); queries down, keys across.",
            **names,
            over=_words.texts(first.window.texts, first.length),
            length=length,
        ),
        say(
            "(c, d) Log-attention of the same heads by distance over {over}, with row fixed "
            "effects, the first {sink} keys left out; dashed: each encoding's own law.",
            over=_words.over(first.curve.texts),
            sink=first.curve.sink,
        ),
        say(
            "(e) The distance that holds {share:.0f} % of a head's attention; dashed: the bias "
            "alone; dotted: uniform attention.",
            share=100 * reach.share,
        ),
        _growth(sides, reach),
        say(
            "(f) How strongly the curves swing about their trend; dotted: {waves}'s wavelengths "
            "2π / θ.",
            waves=sides[1].name,
        ),
        _ripples(sides[1]),
    )
    alt = say(
        "Six maps, decay curves, reach by head and spectrum of {stairs} and {waves}.", **names
    )
    return FigureSpec(panels, caption, sentences(alt, caption))


def _decay(sides: Sequence[Side]) -> list[Chart]:
    """Each side's heads with their laws, which start at 0, on the same axes."""
    placed = [_placed(s) for s in sides]
    shown = [c[list(s.shown)] for s, (c, _) in zip(sides, placed, strict=True)]
    longest = max(c.shape[1] for c in shown)
    low = max(float(np.floor(min(c.min() for c in shown))), -DEEPEST)
    x = Axis(say("distance (tokens)"), (0.0, float(longest)))
    y = Axis(say("log-attention (nats)"), (low, max(float(c.max()) for c in shown) + ROOM))
    charts = []
    for side, (curves, laws) in zip(sides, placed, strict=True):
        d = np.arange(curves.shape[1], dtype=np.float64)
        lines = []
        for h, shade in zip(side.shown, _shades(side.shown), strict=True):
            name = say("head {head}", head=h + 1)
            lines.append(Line(name, d, curves[h], side.encoding, shade, strong=True, label=name))
            if np.isfinite(laws[h]).any():
                law = say("{name}, law", name=name)
                lines.append(Line(law, d, laws[h], "ink", dash="dash"))
        charts.append(
            Chart(
                title=say("Decay of {name}", name=side.name),
                accent=side.encoding,
                lines=tuple(lines),
                x=x,
                y=y,
                read=say("distance {x:,.0f}\n{y:.2f} nats"),
            )
        )
    return charts


def _stairs(sides: tuple[Side, Side], reach: Reach) -> Chart:
    heads = len(reach.law)
    x = np.repeat(np.arange(heads) + 0.5, 2) + np.tile([0.0, 1.0], heads)  # a step per head
    lines = [
        Line(s.name, x, np.repeat(s.reach, 2), s.encoding, strong=s is sides[0], label=s.name)
        for s in reversed(sides)
    ]
    lines.append(Line(say("the bias alone"), x, np.repeat(reach.law, 2), "ink", dash="dash"))
    return Chart(
        title=say("Stairs: reach by head"),
        accent=sides[0].encoding,
        lines=tuple(lines),
        x=Axis(say("head"), (0.5, heads + 0.5), ticks=_axes.labelled(list(range(1, heads + 1)))),
        y=_axes.values(
            [s.reach for s in sides], say("reach (tokens)"), True, (*reach.law.tolist(), reach.even)
        ),
        levels=((reach.even, say("uniform attention")),),
        read=say("head {x:.0f}\n{y:,.1f} tokens"),
    )


def _spectrum(sides: tuple[Side, Side], frequency: Array, wavelengths: Sequence[float]) -> Chart:
    period = 1 / frequency[::-1]  # from short to long
    still, swings = (s.amplitude[:, ::-1] for s in sides)
    stairs, waves = sides
    lines = [
        Line(
            say("{name}, head {head}", name=stairs.name, head=h + 1),
            period,
            still[h],
            stairs.encoding,
            label=stairs.name if h == stairs.shown[-1] else "",
        )
        for h in stairs.shown
    ]
    lines += [
        Line(
            say("{name}, head {head}", name=waves.name, head=h + 1),
            *(period, swings[h], waves.encoding, shade),
            strong=True,
        )
        for h, shade in zip(waves.shown, _shades(waves.shown), strict=True)
    ]
    ends = float(period.min()), float(period.max())
    ticks = _axes.lengths(ends, "").ticks
    return Chart(
        title=say("Ripples: spectrum"),
        accent=waves.encoding,
        lines=tuple(lines),
        x=Axis(say("period (tokens)"), ends, True, ticks),
        y=Axis(say("amplitude (nats)"), (0.0, 1.06 * max(float(line.y.max()) for line in lines))),
        marks=tuple((w, "") for w in wavelengths if ends[0] < w < ends[1]),
        read=say("period {x:,.1f}\n{y:.3f} nats"),
    )


def _placed(side: Side) -> tuple[Array, Array]:
    """(curves, laws) [head, distance], shifted so that the law, or else the curve, starts at 0."""
    known = np.asarray(np.isfinite(side.law).all(axis=1))
    law = np.where(known[:, None], side.law, side.curve.value)
    law = side.curve.aligned(law)
    start = law[:, :1]
    return side.curve.value - start, np.where(known[:, None], law - start, np.nan)


def _shades(heads: Sequence[int]) -> list[float | None]:
    """The first head in full colour, the others paler."""
    last = max(len(heads) - 1, 1)
    return [None, *(i / last for i in range(1, len(heads)))]


def _growth(sides: tuple[Side, Side], reach: Reach) -> str:
    law, *found = reach.grows
    stairs, waves = (
        say(
            "{name}'s grows by a factor of {factor:.2f} from head to head (95 % interval "
            "{low:.2f} to {high:.2f}; {p})",
            name=s.name,
            factor=factor,
            low=low,
            high=high,
            p=_p(p),
        )
        for s, (factor, low, high, p) in zip(sides, found, strict=True)
    )
    return say(
        "{stairs}, that of the bias alone by {law:.2f}; {waves}, heads in random order.",
        stairs=stairs,
        law=law[0],
        waves=waves,
    )


def _ripples(side: Side) -> str:
    told, chance, p = side.ripple[list(side.shown)].T
    return say(
        "{name}'s frequencies explain {told} of these heads' swings, as many random ones {chance} "
        "({p}).",
        name=side.name,
        told=_span(told),
        chance=_span(chance),
        p=_p(float(p.max())),
    )


def _span(values: Array) -> str:
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else say("{low} to {high}", low=low, high=high)


def _p(value: float) -> str:
    return f"p = {value:.3f}" if value >= 0.0005 else "p < 0.001"


FIGURE = FigureCard("staircase-ripples", mark("The staircase next to the ripples"), "maps", build)
