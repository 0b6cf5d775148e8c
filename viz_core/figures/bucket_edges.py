"""Stairs within a head: its curve on the edges of T5's buckets, where it steps or doesn't."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Band, Chart, FigureCard, FigureSpec, Line
from viz_core.words import mark, say, sentences

APART = 1.3  # factor between edges that are labelled, at least

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One head's curve, its standard error and its law (NaN where none), nats: [distance].

    `edges`: the first distance of each bucket; `score` and `p` as from `signatures.staircase`,
    NaN where no edge has room.
    """

    name: str
    accent: str
    curve: Array
    error: Array
    law: Array
    edges: npt.NDArray[np.int64]
    score: float
    p: float
    texts: int
    length: int


def build(sides: Sequence[Side], head: str) -> FigureSpec:
    """One panel per checkpoint, each on its own scale of nats; `head` names the head in words."""
    panels = tuple(_panel(s) for s in sides)
    over = _words.texts(sides[0].texts, sides[0].length)
    caption = say(
        "Log-attention by distance of {head}, row fixed effects, over {over}, around the "
        "distances where T5's buckets begin (dotted); each panel on its own scale. Bands: two "
        "standard errors by text; dashed: the encoding's own law. Score 1: all rises and falls "
        "near the edges are at them; 0: no more than elsewhere. p: how often edges at random "
        "places nearby score as high.",
        head=head,
        over=over,
    )
    alt = say("Steps: {names}.", names=_words.listed(s.name for s in sides))
    return FigureSpec(panels, caption, sentences(alt, caption))


def _panel(side: Side) -> Chart:
    size = len(side.curve)
    edges = side.edges[(side.edges > 0) & (side.edges < size)]
    wide = edges[1:][np.diff(edges) > 1]  # before these every distance has its own bucket
    first = int(wide[0]) // 2 if len(wide) else 1
    last = min(size, 2 * int(edges[-1])) if len(edges) else size
    marked = edges[edges >= wide[0]] if len(wide) else edges
    d = np.arange(max(first, 1), last)
    curve, law = side.curve[d], side.law[d]
    width = 2 * side.error[d]
    x = d.astype(np.float64)
    lines = [
        Line(
            side.name,
            x,
            curve,
            side.accent,
            strong=True,
            band=Band(curve - width, curve + width, say("two standard errors")),
        )
    ]
    if np.isfinite(law).all():
        name = say("{name}, law", name=side.name)
        lines.append(Line(name, x, law + (curve - law).mean(), "ink", dash="dash"))
    found = (
        say("no edge has room")
        if math.isnan(side.score)
        else say("score {score:z.2f} (p {p:.3f})", score=side.score, p=side.p).replace("-", "−")
    )
    return Chart(
        title=f"{side.name} · {found}",
        accent=side.accent,
        lines=tuple(lines),
        x=Axis(
            say("distance (tokens, log scale)"),
            (float(d[0]), float(last)),
            True,
            tuple(tick for tick in _words.spaced(marked, APART) if tick[1]),
        ),
        y=_axes.values([line.y for line in lines], say("nats, up to a constant"), False),
        marks=tuple((float(edge), "") for edge in marked),
        read=say("distance {x:,.0f}\n{y:.3f} nats"),
    )


FIGURE = FigureCard("bucket-edges", mark("Steps at the edges of buckets"), "curves", build)
