"""Means over documents and how far chance moves them: a bootstrap of whole documents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

RESAMPLES = 2_000


class Estimate(NamedTuple):
    """A token-weighted mean in nats and its 95 % interval; no interval from a single document."""

    value: float
    low: float | None
    high: float | None


def mean(sums: Array, counts: Array) -> Estimate:
    """Sum of losses over sum of tokens: `sums`, `counts` [document]."""
    return _estimate(sums, counts)


def difference(sums: Array, others: Array, counts: Array) -> Estimate:
    """Mean of `sums` less mean of `others` on the same tokens, resampled as pairs: [document]."""
    return _estimate(sums - others, counts)


def _estimate(sums: Array, counts: Array) -> Estimate:
    value = float(sums.sum() / counts.sum())
    if len(sums) < 2:
        return Estimate(value, None, None)
    drawn = np.random.default_rng(0).integers(len(sums), size=(RESAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(value, float(low), float(high))
