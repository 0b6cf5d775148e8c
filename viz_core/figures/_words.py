"""Words that captions and marks share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from viz_core.words import say


def texts(count: int, length: int) -> str:
    """What was averaged over: "42 texts of 512 tokens"."""
    if count == 1:
        return say("one text of {length:,} tokens", length=length)
    return say("{count:,} texts of {length:,} tokens", count=count, length=length)


def over(count: int) -> str:
    """The same without its length: "42 texts"."""
    return say("one text") if count == 1 else say("{count} texts", count=count)


def trained(length: int) -> tuple[float, str]:
    """A mark at the trained length, with its words."""
    return float(length), say("trained length {length:,}", length=length)


def dotted(length: int, longest: int) -> str:
    """What a caption says of that mark, where it lies within `longest` distances; else nothing."""
    if length >= longest:
        return ""
    return say("Dotted: the trained length, {length:,} tokens.", length=length)


def cells(cell: int) -> str:
    """How much of a map each of its cells holds."""
    return say("single tokens") if cell == 1 else say("cells of {n} × {n} tokens", n=cell)


def between(low: str, high: str) -> str:
    """A 95 % interval, its ends as they are to be read."""
    return say("95 %: {low} to {high}", low=low, high=high)


def where(place: str, cell: int) -> str:
    """What a map shows: a place in words, and its cells."""
    return say("{place}, {cells}", place=place, cells=cells(cell))


def listed(some: Iterable[str]) -> str:
    """Names one after the other: "ALiBi, RoPE"; nothing for none."""
    return _folded(some, lambda before, one: say("{before}, {one}", before=before, one=one))


def rowed(some: Iterable[str]) -> str:
    """The same of longer words, in which commas may stand: "ALiBi; RoPE, PI s = 4"."""
    return _folded(some, lambda before, one: say("{before}; {one}", before=before, one=one))


def joined(some: Sequence[str]) -> str:
    """Names as a sentence has them: "ALiBi, RoPE and NoPE"."""
    if len(some) < 2:
        return listed(some)
    return say("{names} and {last}", names=listed(some[:-1]), last=some[-1])


def _folded(some: Iterable[str], both: Callable[[str, str], str]) -> str:
    return reduce(both, some) if (some := [*some]) else ""


def spaced(places: Iterable[float], apart: float) -> tuple[tuple[float, str], ...]:
    """Each place of a logarithmic axis, rising, with itself in words where there is room for them.

    There is none within a factor of `apart` from the last place that has words.
    """
    found, last = list[tuple[float, str]](), 0.0
    for place in map(float, places):
        far = place >= apart * last
        found.append((place, f"{place:,.0f}" if far else ""))
        last = place if far else last
    return tuple(found)
