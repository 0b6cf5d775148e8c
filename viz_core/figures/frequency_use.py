"""Frequency use: how a head spreads the norms of its queries and keys over RoPE's wavelengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line

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
                        f"{s.name}, head {h + 1}",
                        wavelength,
                        s.share[h],
                        s.accent,
                        strong=h == head,
                        markers=h == head,
                        notes=_notes(s),
                        group="" if h == head else "other heads",
                    )
                    for h in order
                ),
                x=Axis(
                    "wavelength (tokens, log scale)",
                    ends,
                    True,
                    _axes.labelled([10.0**n for n in range(7) if ends[0] <= 10**n <= ends[1]]),
                ),
                y=Axis("share of the norm", (0.0, 1.1 * float(np.nanmax(s.share)))),
                marks=((float(s.trained), f"no full turn in {s.trained:,} tokens →"),)
                if s.trained
                else (),
                marks_on_top=True,
                levels=((s.even, "all alike"),),
                read="wavelength {x:,.1f}\n{y:.3f} of the norm",
            )
        )
    over = _words.texts(sides[0].texts, sides[0].length)
    caption = (
        f"Share of each pair of channels in the product of mean query and key norms, layer "
        f"{layer + 1}, over all positions of {over}; head {head + 1} in full colour, the other "
        "heads faint."
    )
    if known := next((s for s in sides if s.trained), None):
        caption += (
            " Pairs right of the line never completed a turn in training: past the trained length "
            "they show angles that the model hasn't met. Used alike, "
            f"{100 * known.incomplete_even:.0f} % of the norm would be there."
        )
    return FigureSpec(tuple(panels), caption, f"Frequency use. {caption}")


def _title(side: Side) -> str:
    said = f" · {100 * side.incomplete:.0f} % never turned once" if side.trained else ""
    return side.name + said


def _notes(side: Side) -> tuple[str, ...]:
    if not side.trained:
        return tuple(f"pair {k}" for k in range(len(side.theta)))
    turns = side.trained * side.theta / (2 * np.pi)
    return tuple(f"pair {k}, {t:,.2f} turns in training" for k, t in enumerate(turns))


FIGURE = FigureCard("frequency-use", "Frequency use by wavelength", "curves", build)
