"""Attention by distance beside its attribution: where a head looks, and what of it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, FigureCard, FigureSpec, Line
from viz_core.words import mark, say, sentences

MOST = 6  # labels on the axis: a narrow page has room for no more
NAMES = {  # of the three profiles, and their labels
    "attention": (mark("attention"), mark("attention")),
    "attribution": (mark("attribution"), mark("attribution")),
    "even": (mark("uniform attention"), mark("uniform")),
}

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """One head in one text: attention and attribution [distance], sums over pairs.

    Attention in probability, attribution in nats of what is explained; both over the same queries,
    all of them up to the last that is asked about.
    """

    title: str
    accent: str
    attention: Array
    attribution: Array


def build(sides: Sequence[Side], target: str) -> FigureSpec:
    """Two charts per side: the share of each stretch of distances, and that of all up to it.

    `target` says in words what the attribution is to. Stretches double: 0, 1, 2 to 3, 4 to 7 ...
    """
    panels = tuple(chart for s in sides for chart in (_stretches(s), _within(s)))
    caption = say(
        "Attention and its attribution by distance: {target}. One text, no mean over texts. "
        "Attention: a stretch's share of what all queries up to the last one explained attend to. "
        "Attribution: its share of the absolute attributions of all distances; below 0 that "
        "attention works against what is explained. Dashed: attention that prefers nothing. Right: "
        "the share up to a distance, attributions by their absolute values.",
        target=target,
    )
    alt = say("Distance profiles: {titles}.", titles=_words.rowed(s.title for s in sides))
    return FigureSpec(panels, caption, sentences(alt, caption))


def even(count: int) -> Array:
    """What `count` queries that attend to all keys alike give each distance: [distance]."""
    each = 1 / np.arange(1, count + 1, dtype=np.float64)
    return np.asarray(each[::-1].cumsum()[::-1])  # those at least so far into the text


def stretches(count: int) -> Integers:
    """Where stretches of distances begin: 0, 1, 2, 4 ... below `count`."""
    doubled = 2 ** np.arange(max(count - 1, 1).bit_length(), dtype=np.int64)
    return np.concatenate([[0], doubled[doubled < count]])


def _shares(side: Side) -> dict[str, Array]:
    """The three profiles (NAMES), each [distance], as shares of their absolute sums."""
    profiles = {
        "attention": side.attention,
        "attribution": side.attribution,
        "even": even(len(side.attention)),
    }
    return {which: v / max(float(np.abs(v).sum()), 1e-12) for which, v in profiles.items()}


def _lines(
    side: Side, values: dict[str, Array], x: Array, notes: tuple[str, ...]
) -> tuple[Line, ...]:
    return tuple(
        Line(
            *(say(NAMES[which][0]), x, y, side.accent if which == "attribution" else "ink"),
            dash="dash" if which == "even" else "solid",
            strong=which == "attribution",
            markers=which != "even" and len(notes) > 0,
            label=say(NAMES[which][1]),
            notes=notes,
        )
        for which, y in reversed(values.items())
    )


def _stretches(side: Side) -> Chart:
    starts = stretches(len(side.attention))
    shares = {n: np.add.reduceat(v, starts) for n, v in _shares(side).items()}
    ends = [*(starts[1:] - 1), len(side.attention) - 1]
    notes = tuple(
        say("distance {first:,}", first=a)
        if a == b
        else say("distance {first:,} to {last:,}", first=a, last=b)
        for a, b in zip(starts, ends, strict=True)
    )
    x = np.arange(len(starts), dtype=np.float64)
    step = -(-len(starts) // MOST)
    ticks = tuple((float(i), f"{a:,}" if i % step == 0 else "") for i, a in enumerate(starts))
    return Chart(
        title=side.title,
        accent=side.accent,
        lines=_lines(side, shares, x, notes),
        x=Axis(
            say("distance (tokens, in stretches that double)"),
            (-0.3, len(starts) - 0.7),
            False,
            ticks,
        ),
        y=_axes.values(list(shares.values()), say("share of the stretch"), False, (0.0,)),
        levels=((0.0, ""),),
        read="{y:.1%}",
    )


def _within(side: Side) -> Chart:
    shares = {n: np.abs(v).cumsum() for n, v in _shares(side).items()}
    count = len(side.attention)
    x = np.arange(1, count + 1, dtype=np.float64)  # log axes have no 0: "within d" as "below d + 1"
    top = float(max(count, 2))
    ticks = _axes.labelled([2.0**e for e in range(0, int(np.log2(top)) + 1, 2)])
    return Chart(
        title=say("Up to a distance"),
        accent=side.accent,
        lines=_lines(side, shares, x, ()),
        x=Axis(say("distances below (tokens, log scale)"), (1.0, top), True, ticks),
        y=Axis(say("share up to there"), (0.0, 1.03)),
        read=say("below distance {x:,.0f}\n{y:.1%}"),
    )


FIGURE = FigureCard(
    "distance-profiles", mark("Attention and attribution by distance"), "curves", build
)
