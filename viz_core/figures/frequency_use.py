"""Frequency use: how a head spreads the norms of its queries and keys over RoPE's wavelengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line
from viz_core.words import mark, say, sentences

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """Shares of the norm by pair of channels: share [head, pair], of the heads of one layer.

    `even`: each pair's share, were all used alike; theta [pair], radians per token; `trained` the
    trained length, tokens, 0 if unknown; `incomplete`: the focused head's share in pairs that never
    turned once in training, and `incomplete_even` what it would be for pairs used alike.
    """

    name: str
    accent: str
    share: Array
    even: float
    theta: Array
    trained: int
    incomplete: float
    incomplete_even: float
    texts: int
    length: int


def build(sides: Sequence[Side], layer: int, head: int) -> FigureSpec:
    """One panel per side; `head` of `layer` (both from 0) stands out."""
    panels = []
    for s in sides:
        wavelength = 2 * np.pi / s.theta
        order = [h for h in range(len(s.share)) if h != head] + [head]
        ends = float(wavelength[0]) / 1.5, float(wavelength[-1]) * 1.5
        panels.append(
            Chart(
                title=_title(s),
                accent=s.accent,
                lines=tuple(
                    Line(
                        say("{name}, head {head}", name=s.name, head=h + 1),
                        wavelength,
                        s.share[h],
                        s.accent,
                        strong=h == head,
                        markers=h == head,
                        notes=_notes(s),
                        group="" if h == head else say("the other heads"),
                    )
                    for h in order
                ),
                x=Axis(
                    say("wavelength (tokens, log scale)"),
                    ends,
                    True,
                    _axes.labelled([10.0**n for n in range(7) if ends[0] <= 10**n <= ends[1]]),
                ),
                y=Axis(say("share of the norm"), (0.0, 1.1 * float(np.nanmax(s.share)))),
                marks=(_mark(s.trained),) if s.trained else (),
                marks_on_top=True,
                levels=((s.even, say("all alike")),),
                read=say("wavelength {x:,.1f}\n{y:.3f} of the norm"),
            )
        )
    over = _words.texts(sides[0].texts, sides[0].length)
    caption = say(
        "Share of each pair of channels in the product of mean query and key norms, layer {layer}, "
        "over all positions of {over}; head {head} in full colour, the other heads faint.",
        layer=layer + 1,
        over=over,
        head=head + 1,
    )
    if known := next((s for s in sides if s.trained), None):
        slow = say(
            "Pairs right of the line never completed a turn in training: past the trained length "
            "they show angles that the model hasn't met. Used alike, {share:.0f} % of the norm "
            "would be there.",
            share=100 * known.incomplete_even,
        )
        caption = sentences(caption, slow)
    return FigureSpec(tuple(panels), caption, sentences(say("Frequency use."), caption))


def _title(side: Side) -> str:
    if not side.trained:
        return side.name
    share = 100 * side.incomplete
    return say("{name} · {share:.0f} % never turned once", name=side.name, share=share)


def _mark(trained: int) -> tuple[float, str]:
    return float(trained), say("no full turn in {length:,} tokens →", length=trained)


def _notes(side: Side) -> tuple[str, ...]:
    if not side.trained:
        return tuple(say("pair {pair}", pair=k) for k in range(len(side.theta)))
    turns = side.trained * side.theta / (2 * np.pi)
    return tuple(
        say("pair {pair}, {turns:,.2f} turns in training", pair=k, turns=t)
        for k, t in enumerate(turns)
    )


FIGURE = FigureCard("frequency-use", mark("Frequency use by wavelength"), "curves", build)
