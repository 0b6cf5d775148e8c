"""What chance and rounding alone would do: the measure of every statistic here."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

DRAWS = 199  # nulls drawn for one p-value; the smallest possible p is then 0.005

Array = npt.NDArray[np.float64]


def p_value(observed: Array, null: Array, slack: float = 0.0) -> Array:
    """The share of arrangements that do at least as well as the observed one, itself included.

    `observed` [...], `null` [draw, ...]: (1 + draws at or above it) / (1 + draws), never 0
    (Phipson & Smyth 2010). A draw less than `slack` below counts as equal: where two values differ
    by rounding alone, neither is better. NaN where nothing was observed.
    """
    better = (null >= observed - slack).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, (1 + better) / (1 + len(null)))


def rounding(curve: Array) -> Array:
    """What float32 may round off a curve [head, distance]: [head], nats.

    Logits are computed in float32, so a departure of this size is no feature of the head.
    """
    return np.asarray(np.ptp(curve, axis=1) * np.finfo(np.float32).eps)
