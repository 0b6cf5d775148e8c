"""Limits and ticks that read well, for the axes of lengths and of perplexity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from viz_core.figures.spec import Axis, Values

MANTISSAS = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7))  # of ticks, fewest first
FEWEST = 4  # ticks that an axis should have
NARROW = 4.0  # a logarithmic axis that spans less than this factor has evenly spaced ticks


def lengths(seen: Iterable[float], label: str) -> Axis:
    """A log2 axis of token counts: a tick at every power of two within the range of `seen`."""
    low, high = min(seen := list(seen)), max(seen)
    ticks = [float(2**e) for e in range(math.ceil(math.log2(low)), int(math.log2(high)) + 1)]
    pad = (high / low) ** 0.03 if high > low else 2**0.5
    return Axis(label, (low / pad, high * pad), True, labelled(ticks))


def values(seen: Sequence[Values], label: str, log: bool, also: Sequence[float] = ()) -> Axis:
    """An axis that holds every finite number of `seen` and `also`, and a little more, most below.

    A logarithmic one has its ticks at round numbers; a linear one leaves them to the renderer.
    """
    every = np.concatenate([*seen, np.array(also, dtype=np.float64)])
    every = every[np.isfinite(every) & ((every > 0) | (not log))]
    if not len(every):
        every = np.array([1.0, 2.0])
    low, high = float(every.min()), float(every.max())
    if log:
        pad = max(high / low, 1.1) ** 0.06
        low, high = low / pad**1.5, high * pad
        return Axis(label, (low, high), True, labelled(round_numbers(low, high)))
    pad = 0.06 * max(high - low, 0.01)
    return Axis(label, (low - 1.5 * pad, high + pad))


def round_numbers(low: float, high: float) -> list[float]:
    """FEWEST numbers or a few more between `low` and `high` > low that people count in."""
    if high / low >= NARROW:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for mantissas in MANTISSAS:
            every = [_round(m * 10.0**d) for d in decades for m in mantissas]
            found = [v for v in every if low <= v <= high]
            if len(found) >= FEWEST:
                return found
    decade = 10.0 ** math.floor(math.log10(high - low))
    for part in (0.2, 0.5, 1, 2, 5, 10):
        step = decade / part
        found = [_round(n * step) for n in range(math.ceil(low / step), int(high / step) + 1)]
        if len(found) >= FEWEST:
            break
    return found


def labelled(ticks: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Each place with itself in words: 1,024 or 0.5."""
    return tuple((t, f"{t:,.10g}") for t in ticks)


def _round(value: float) -> float:
    return float(f"{value:.10g}")  # 30.000000000000004 is no round number
