"""What each head is worth: the loss with that head replaced, by layer and head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line, Values
from viz_core.words import mark, say, sentences

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One checkpoint: added, low, high [layer, head], nats per token.

    `added` is the loss with the head replaced less the loss without, a mean over `texts` texts of
    `length` tokens; low and high are its 95 % interval over them, NaN from a single text.
    """

    name: str
    accent: str
    added: Array
    low: Array
    high: Array
    texts: int
    length: int


def build(sides: Sequence[Side], replacement: str, targets: str) -> FigureSpec:
    """A grid: a row per side, a chart per layer, a point per head, all on the same axes.

    `replacement` says in words what stands in a head's place, `targets` which tokens' loss it is.
    """
    y = _axes.values(
        [v.ravel() for s in sides for v in (s.added, s.low, s.high)],
        say("added loss (nats)"),
        False,
        (0.0,),
    )
    panels = tuple(_chart(s, layer, y) for s in sides for layer in range(len(s.added)))
    one = sides[0]
    caption = say(
        "Loss with one head replaced ({replacement}) less the loss without, nats per token, by "
        "layer and head, over {over}: {targets}. Each head is replaced alone, so what others can "
        "make up for is not seen.",
        replacement=replacement,
        over=_words.texts(one.texts, one.length),
        targets=targets,
    )
    if any(np.isfinite(s.low).any() for s in sides):
        bars = say("Bars: 95 % bootstrap intervals over texts.")
        caption = sentences(caption, bars)
    alt = say("Importance of each head: {names}.", names=_words.rowed(s.name for s in sides))
    return FigureSpec(panels, caption, sentences(alt, caption))


def _chart(side: Side, layer: int, y: Axis) -> Chart:
    added, low, high = (v[layer] for v in (side.added, side.low, side.high))
    x = np.arange(1, len(added) + 1, dtype=np.float64)
    gaps = np.full(len(x), np.nan)
    notes = tuple(
        _words.between(f"{a:+.4f}", f"{b:+.4f}") if np.isfinite(a) else ""
        for a, b in zip(low, high, strict=True)
    )
    # NaN between them leaves points and bars unconnected
    bars = Line("95 %", _woven(x, x, gaps), _woven(low, high, gaps), side.accent)
    points = Line(
        *(say("added loss"), _woven(x, gaps), _woven(added, gaps), side.accent),
        strong=True,
        markers=True,
        notes=tuple(note for n in notes for note in (n, "")),
    )
    return Chart(
        title=say("{name}, layer {layer}", name=side.name, layer=layer + 1),
        accent=side.accent,
        lines=(bars, points),
        x=Axis(say("head"), (0.4, len(x) + 0.6), False, _axes.labelled(range(1, len(x) + 1))),
        y=y,
        levels=((0.0, ""),),
        read=say("head {x:.0f}\n{y:+.4f} nats"),
    )


def _woven(*parts: Values) -> Array:
    """The first of each part, then the second of each, and so on."""
    return np.stack(parts, axis=1).astype(np.float64).ravel()


FIGURE = FigureCard("head-importance", mark("Head importance, by layer and head"), "curves", build)
