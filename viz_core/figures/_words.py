"""Words that captions and marks share."""

from __future__ import annotations

from collections.abc import Iterable


def texts(count: int, length: int) -> str:
    """What was averaged over: "42 texts of 512 tokens"."""
    return f"{'one text' if count == 1 else f'{count:,} texts'} of {length:,} tokens"


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
