"""Where the labels at the ends of curves stand, so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places at least `gap` apart, together as near to `wanted` as can be (least squares).

    They keep the order of `wanted` (equal ones that of the sequence) and stay within `low` ..
    `high` as far as they fit there. Less its rank times the gap, each place may not fall below
    the one before: an isotonic regression, solved by pooling neighbours that are out of order.
    """
    order = np.argsort(np.asarray(wanted, dtype=np.float64), kind="stable")
    pools: list[tuple[float, int]] = []  # (mean, how many)
    for rank, i in enumerate(order):
        pools.append((wanted[i] - rank * gap, 1))
        while len(pools) > 1 and pools[-1][0] < pools[-2][0]:
            (a, m), (b, n) = pools.pop(), pools.pop()
            pools.append(((a * m + b * n) / (m + n), m + n))
    ends = low, max(low, high - (len(order) - 1) * gap)
    found = [0.0] * len(order)
    steps = [float(np.clip(mean, *ends)) for mean, n in pools for _ in range(n)]
    for rank, (i, step) in enumerate(zip(order, steps, strict=True)):
        found[i] = step + rank * gap
    return found
