"""Where to look: landmarks as fine lines on a map and a chart, and in words."""

from __future__ import annotations

import math
from collections.abc import Iterable

from viz_core.figures.spec import Guide
from viz_core.signatures.landmarks import SHARE, Landmarks
from viz_core.types import SINK, Range
from viz_core.words import say, sentences

CLEAR = 0.05  # p-values up to this are taken for more than chance
APART = 24  # lines in the width of a map, at most: nearer ones would cover what they show
ON_AXIS = 60  # the same of a chart, whose lines stand beside the curve

Places = tuple[tuple[float, str], ...]


def guides(marks: Landmarks, rows: Range, columns: Range) -> tuple[Guide, ...]:
    """The lines for a window of queries `rows` and keys `columns`, those of it that cross it."""
    (a, b), (c, d) = rows, columns
    nearest, farthest = a - d, b - c
    apart = max(b - a, d - c) / APART
    seen = [(x, text) for x, text in _distances(marks, farthest, apart) if nearest < x < farthest]
    found = [Guide(distance=x, label=text) for x, text in _named(seen)]
    if c < SINK < d:
        found.insert(0, Guide(key=SINK, label=say("first {sink} keys", sink=SINK)))
    return tuple(found)


def places(marks: Landmarks, longest: int, taken: float, log: bool) -> Places:
    """The same on an axis of distances up to `longest`, logarithmic or not; without words near a
    place that is `taken` by others."""
    some = _distances(marks, longest, 0 if log and marks.stairs else longest / ON_AXIS)
    named = _named(some[::-1])[::-1] if marks.wave else _named(some)
    return tuple((x, "" if abs(x - taken) < longest / 4 else text) for x, text in named)


def words(marks: Landmarks, rows: Range, columns: Range) -> str:
    """What the lines on the window show, or why there are none: a sentence."""
    wave, stairs = marks.wave, marks.stairs
    if marks.reach is not None:
        return say(
            "The band along the diagonal ends near distance {reach:,.0f}: by its slope of "
            "{slope:.4g} alone, {percent:.0f} % of a query's attention lies within that.",
            reach=marks.reach,
            slope=marks.slope,
            percent=100 * SHARE,
        )
    if wave is not None:
        numbers = {"told": 100 * wave.explained, "chance": 100 * wave.expected, "p": wave.p}
        if wave.p > CLEAR:
            return say(
                "No ripple to be seen: RoPE's frequencies explain {told:.0f} % of how its curve "
                "swings, random ones {chance:.0f} % (p = {p:.3f}), so no crests are drawn.",
                **numbers,
            )
        if wave.period < max(rows[1] - rows[0], columns[1] - columns[0]) / APART:
            return say(
                "Its strongest wave repeats every {period:.1f} tokens, too fine to draw here: zoom "
                "in to see its crests. RoPE's frequencies explain {told:.1f} % of how its curve "
                "swings, random ones {chance:.0f} % (p = {p:.3f}).",
                period=wave.period,
                **numbers,
            )
        return say(
            "The crests of its strongest wave run along the diagonal, {period:.1f} tokens apart. "
            "RoPE's frequencies explain {told:.1f} % of how its curve swings, random ones "
            "{chance:.0f} % (p = {p:.3f}).",
            period=wave.period,
            **numbers,
        )
    if stairs is not None:
        if stairs.p > CLEAR:
            return say(
                "No stairs to be seen: its curve steps at the edges of its law no more than "
                "elsewhere (p = {p:.3f}), so no edges are drawn.",
                p=stairs.p,
            )
        return say(
            "Stairs: its law has levels, and the curve changes where they end rather than within "
            "them (score {score:.2f} of 1, p = {p:.3f}).",
            score=stairs.score,
            p=stairs.p,
        )
    if marks.turns:
        return say("The text is too short to measure its ripple.")
    return say("Its encoding sets neither stairs nor ripples by distance.")


def legend(several: Iterable[Landmarks], windows: Iterable[Range]) -> str:
    """What the fine lines are, for a caption; `windows` are the keys that each map shows."""
    some = list(several)
    return sentences(
        say("Before the fine upright line: the first {sink} keys.", sink=SINK)
        if some and any(first < SINK < last for first, last in windows)
        else "",
        say(
            "Fine diagonals at a reach: {percent:.0f} % of attention by the slope alone.",
            percent=100 * SHARE,
        )
        if any(m.reach is not None for m in some)
        else "",
        say("Fine diagonals in a row: crests of the head's strongest wave.")
        if any(_clear(m) and m.wave for m in some)
        else "",
        say("Fine diagonals at steps: where a level of the encoding's law ends.")
        if any(_clear(m) and m.stairs for m in some)
        else "",
    )


def _clear(marks: Landmarks) -> bool:
    told = marks.wave or marks.stairs
    return told is not None and told.p <= CLEAR


def _distances(marks: Landmarks, farthest: float, apart: float) -> list[tuple[float, str]]:
    """Each distance with what a line there says, nearest first, none nearer than `apart`."""
    if marks.reach is not None:
        text = say("{percent:.0f} % within {reach:,.0f}", percent=100 * SHARE, reach=marks.reach)
        return [(marks.reach, text)]
    if not _clear(marks):
        return []
    if marks.wave is not None:
        if marks.wave.period < apart:
            return []
        count = math.ceil((farthest - marks.wave.first) / marks.wave.period)
        text = say("crests {period:.1f} apart", period=marks.wave.period)
        return [(marks.wave.first + n * marks.wave.period, text) for n in range(max(count, 0))]
    assert marks.stairs is not None
    found, last = list[tuple[float, str]](), 0.0
    for edge in reversed(marks.stairs.edges):  # the widest stairs are the farthest ones
        if not found or last - edge >= apart:
            found.append((edge - 0.5, say("step at {distance:,}", distance=edge)))
            last = edge
    return found[::-1]


def _named(some: list[tuple[float, str]]) -> Places:
    """All of them, the last one with its words: on a map there is most room beyond it."""
    return tuple((x, text if i == len(some) - 1 else "") for i, (x, text) in enumerate(some))
