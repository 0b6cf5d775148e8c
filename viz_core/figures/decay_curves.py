"""Log-attention by distance: all heads of each side, with the encoding's own law dashed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _marks, _words
from viz_core.figures.spec import Axis, Band, Chart, FigureCard, FigureSpec, Line
from viz_core.signatures.landmarks import Landmarks
from viz_core.types import Curve
from viz_core.words import mark, say, sentences

BEFORE, AFTER = mark("keys before"), mark("keys after")
DEEPEST = 16.0  # nats below the top: a weight of 1e-7; steep heads run on to hundreds

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One panel: the curves of a layer's heads, their law (None, or NaN for a head that has none:
    not drawn), and the head that is in focus; of the others those that are `shown` (from 0), None
    for all. A trained length of 0 is unknown. `marks`: of the head in focus, where they are drawn.
    """

    curve: Curve
    law: Array | None
    focus: int
    title: str
    encoding: str
    trained_length: int
    shown: tuple[int, ...] | None = None
    marks: Landmarks | None = None


def build(sides: Sequence[Side], x_log: bool = False) -> FigureSpec:
    """One panel per side, all on the same axes. Each head is shifted so that its law starts at 0
    (or, without a law, its own curve): the fit leaves one constant per head free."""
    placed = [_placed(s) for s in sides]
    start = 1 if x_log else 0
    seen = [c for curves, _, ahead in placed for c in (curves, ahead) if c is not None]
    tops = [np.quantile(c[:, 1:], 0.999) for c in seen if c.shape[1] > 2]
    lows = [np.min(c[:, 1:]) for c in seen if c.shape[1] > 2]
    high = float(np.ceil(max(tops, default=1.0) + 0.5))
    low = float(np.floor(max(min(lows, default=-1.0), -DEEPEST)))
    longest = max(c.shape[1] for c, _, _ in placed)
    panels = []
    for side, (curves, laws, ahead) in zip(sides, placed, strict=True):
        x = np.arange(start, curves.shape[1], dtype=np.float64)
        lines = []
        heads = len(curves)
        others = range(heads) if side.shown is None else side.shown
        order = [h for h in others if h != side.focus] + [side.focus]  # focus on top
        for h in order:
            shade = h / max(heads - 1, 1)
            strong = h == side.focus
            name = say("head {head}", head=h + 1)
            lines.append(
                Line(
                    name,
                    x,
                    curves[h, start:],
                    side.encoding,
                    None if strong else shade,
                    strong=strong,
                    band=_band(side, curves, h, start) if strong else None,
                    label=say(BEFORE) if strong and ahead is not None else "",
                )
            )
            if strong and ahead is not None:
                y, after = ahead[h, start:], say(AFTER)
                lines.append(Line(name, x, y, side.encoding, dash="dot", strong=True, label=after))
            if laws is not None and np.isfinite(laws[h]).all():
                lines.append(
                    Line(
                        say("{name}, law", name=name),
                        x,
                        laws[h, start:],
                        "ink",
                        dash="dash",
                        strong=strong,
                        group="" if strong else say("laws of the other heads"),
                    )
                )
        panels.append(
            Chart(
                title=side.title,
                accent=side.encoding,
                lines=tuple(lines),
                x=Axis(say("distance between query and key (tokens)"), (start, longest), x_log),
                y=Axis(say("log-attention (nats, up to a constant)"), (low, high)),
                marks=_places(side, longest, x_log),
                read=say("distance {x:,.0f}\n{y:.2f} nats"),
            )
        )
    c = sides[0].curve
    caption = sentences(
        say(
            "Log-attention by distance with row fixed effects (rows of the map are compared with "
            "themselves only), over {over}; the first {sink} keys left out; at least {pairs:,} "
            "pairs behind each point.",
            over=_words.over(c.texts),
            sink=c.sink,
            pairs=int(c.pairs.min()),
        ),
        say("Dashed: the encoding's own law.") if any(s.law is not None for s in sides) else "",
        say("Dotted: keys after the query, of the head in focus.")
        if any(s.curve.ahead is not None for s in sides)
        else "",
    )
    alt = say("Decay curves: {titles}.", titles=_words.rowed(s.title for s in sides))
    return FigureSpec(tuple(panels), caption, sentences(alt, caption))


def _band(side: Side, curves: Array, head: int, start: int) -> Band | None:
    """Two standard errors each way around the curve of `head`; none from a single text."""
    if side.curve.texts < 2:
        return None
    y, width = curves[head, start:], 2 * side.curve.error[head, start:]
    return Band(y - width, y + width, say("two standard errors"))


def _places(side: Side, longest: int, log: bool) -> _marks.Places:
    """The trained length, where it is known, and the landmarks."""
    length = side.trained_length
    found = (_words.trained(length),) if length else ()
    return found + (_marks.places(side.marks, longest, length, log) if side.marks else ())


def _placed(side: Side) -> tuple[Array, Array | None, Array | None]:
    """(curves, laws, curves of keys after the query) [head, distance], shifted so that the law, or
    the curve where a head has none, starts at 0."""
    curve, law, top = side.curve, None, side.curve.value[:, :1]
    if side.law is not None:
        law = curve.aligned(side.law)
        top = np.where(np.isfinite(law[:, :1]), law[:, :1], top)
        law = law - top
    ahead = None if curve.ahead is None else curve.ahead - top
    return curve.value - top, law, ahead


FIGURE = FigureCard("decay-curves", mark("Log-attention by distance"), "curves", build)
