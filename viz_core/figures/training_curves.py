"""Validation loss as training went on: who learns faster, and who wavers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line, Values
from viz_core.words import mark, say, sentences


@dataclass(frozen=True)
class Series:
    """One training: validation loss [validation], nats per token, after so many `tokens`."""

    name: str
    label: str
    accent: str
    tokens: Values
    loss: Values


def build(series: Sequence[Series], levels: Sequence[float] = ()) -> FigureSpec:
    """All trainings on one pair of axes; `levels` are losses that are marked."""
    lines = tuple(
        Line(s.name, s.tokens / 1e6, s.loss, s.accent, strong=True, markers=True, label=s.label)
        for s in series
    )
    longest = max(float(line.x.max()) for line in lines)
    chart = Chart(
        title=say("Validation loss while training"),
        accent="ink",
        lines=lines,
        x=Axis(say("tokens seen (millions)"), (0.0, 1.02 * longest)),
        y=_axes.values([s.loss for s in series], say("validation loss (nats per token)"), False),
        levels=tuple((level, f"{level:g}") for level in levels),
        read=say("{x:,.2f} million tokens\n{y:.3f} nats"),
    )
    caption = say(
        "Validation loss, all on the same held-out windows of the trained length, after each so "
        "many tokens of the same texts in the same order; one training per encoding, all from one "
        "seed, so small gaps between curves may be chance."
    )
    alt = say(
        "Validation loss by tokens seen: {names}.", names=_words.rowed(s.name for s in series)
    )
    return FigureSpec((chart,), caption, sentences(alt, caption))


def least(series: Series, level: float) -> float | None:
    """Tokens seen at the first validation with a loss below `level`; None if there is none."""
    below = np.flatnonzero(series.loss < level)
    return float(series.tokens[below[0]]) if len(below) else None


def largest_rise(series: Series) -> float:
    """The largest rise of the loss from one validation to the next, nats; 0 if it only falls."""
    return float(max(0.0, np.diff(series.loss).max(initial=0.0)))


FIGURE = FigureCard("training-curves", mark("Validation loss while training"), "curves", build)
