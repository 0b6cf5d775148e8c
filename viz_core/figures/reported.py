"""What others report, next to what we measured: perplexity over that at the trained length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, Dash, FigureCard, FigureSpec, Line, Values
from viz_core.words import mark, say, sentences


@dataclass(frozen=True)
class Series:
    """Perplexity over that at the trained length, by N / L; arrays [length], NaN for no value.

    `notes` are the values as quoted or measured, one per length.
    """

    name: str
    label: str
    accent: str
    times: Values
    ratio: Values
    notes: tuple[str, ...]
    dash: Dash = "solid"


@dataclass(frozen=True)
class Side:
    """One panel: whose numbers, and under which protocol; `own` ones are drawn in full colour."""

    title: str
    series: tuple[Series, ...]
    own: bool = False


def build(sides: Sequence[Side], caption: str) -> FigureSpec:
    """One panel per side, all on the same axes, since models and texts differ and ratios may not.

    Each protocol keeps its own panel.
    """
    every = [s for side in sides for s in side.series]
    times = [float(t) for s in every for t in s.times]
    axis = _axes.lengths(times, say("N / L (times the trained length, log scale)"))
    x = Axis(axis.label, axis.range, True, tuple((t, f"{name}×") for t, name in axis.ticks or ()))
    label = say("perplexity / that at L (log scale)")
    y = _axes.values([s.ratio for s in every], label, True, (1.0,))
    panels = tuple(
        Chart(
            title=side.title,
            accent="ink",
            lines=tuple(
                Line(
                    *(s.name, s.times, s.ratio, s.accent, None if side.own else 0.45, s.dash),
                    strong=side.own,
                    markers=True,
                    label=s.label,
                    notes=s.notes,
                )
                for s in side.series
            ),
            x=x,
            y=y,
            levels=((1.0, ""),),
            read=say("{x:,.2f} times the trained length\n{y:,.3f} times the perplexity"),
        )
        for side in sides
    )
    names = _words.rowed(
        say("{title}: {names}", title=side.title, names=_words.listed(s.name for s in side.series))
        for side in sides
    )
    alt = say("Perplexity by length, {names}.", names=names)
    return FigureSpec(panels, caption, sentences(alt, caption))


FIGURE = FigureCard("reported", mark("What others report"), "curves", build)
