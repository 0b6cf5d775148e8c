"""Spectra: how strongly heads' curves swing at each period, with RoPE's wavelengths marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line
from viz_core.words import mark, say, sentences

BINS = 300  # of a curve, each the highest amplitude within it: peaks keep their height
SHORTEST = 2.0  # tokens: nothing is faster
APART = 1.6  # factor between wavelengths that are labelled, at least
EDGE = 0.95  # of the longest period: at the edge itself no peak can be seen

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """The spectra of a layer's heads: frequency [bin], cycles per token; amplitude [head, bin],
    nats; `theta` [pair], the frequencies to mark, radians per token.

    `found` says in words what the fit of those frequencies gave for the head in focus.
    """

    name: str
    accent: str
    frequency: Array
    amplitude: Array
    theta: Array
    found: str
    texts: int
    length: int


def build(sides: Sequence[Side], layer: int, head: int, marked: str) -> FigureSpec:
    """One panel per side on the same axes; `head` of `layer` (both from 0) stands out.

    `marked` says whose wavelengths the dotted lines are.
    """
    slowest = max(1 / float(s.frequency[0]) for s in sides)
    top = max(float(s.amplitude.max()) for s in sides)
    y = Axis(say("amplitude (nats)"), (0.0, 1.15 * max(top, 1e-3)))
    x = Axis(
        say("period (tokens, log scale)"),
        (SHORTEST, slowest),
        True,
        _axes.labelled([2.0**n for n in range(1, 1 + int(math.log2(slowest)))]),
    )
    panels = tuple(
        Chart(
            title=f"{s.name} · {s.found}",
            accent=s.accent,
            lines=_lines(s, head),
            x=x,
            y=y,
            marks=_words.spaced((v for v in 2 * np.pi / s.theta if v < EDGE * slowest), APART),
            marks_on_top=True,
            read=say("period {x:,.2f}\n{y:.3f} nats"),
        )
        for s in sides
    )
    over = _words.texts(sides[0].texts, sides[0].length)
    caption = say(
        "Amplitude by period of the log-attention curves of layer {layer}, less their trend (Hann "
        "window), over {over}; head {head} in full colour, the other heads faint. Dotted, and in "
        "tokens above: {marked}.",
        layer=layer + 1,
        over=over,
        head=head + 1,
        marked=marked,
    )
    alt = say("Spectra: {names}.", names=_words.listed(s.name for s in sides))
    return FigureSpec(panels, caption, sentences(alt, caption))


def _lines(side: Side, head: int) -> tuple[Line, ...]:
    heads = [h for h in range(len(side.amplitude)) if h != head] + [head]  # focus on top
    lines = []
    for h in heads:
        period, amplitude = _binned(side.frequency, side.amplitude[h])
        group = "" if h == head else say("the other heads")
        name = say("{name}, head {head}", name=side.name, head=h + 1)
        lines.append(Line(name, period, amplitude, side.accent, strong=h == head, group=group))
    return tuple(lines)


def _binned(frequency: Array, amplitude: Array) -> tuple[Array, Array]:
    """(period, amplitude) of the highest point of each of BINS equal steps of log frequency."""
    place = np.log(frequency / frequency[0]) / np.log(frequency[-1] / frequency[0])
    number = np.minimum((place * BINS).astype(int), BINS - 1)
    order = np.lexsort((-amplitude, number))  # by bin, the highest first
    _, first = np.unique(number[order], return_index=True)
    best = order[first]
    return 1 / frequency[best], amplitude[best]


FIGURE = FigureCard("spectra", mark("Spectra of the decay curves"), "curves", build)
