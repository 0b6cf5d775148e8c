"""Slope: how steeply log-attention falls per token, against the slope that the encoding set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from viz_core.errors import LengthError
from viz_core.words import say

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Slopes:
    """Slopes of a layer's heads over texts; all arrays [head], nats per token.

    `value` the mean, `error` its standard error by text, `low` and `high` the 95 % interval (NaN
    from a single text); without any bias the slope is 0, and the interval holds it 19 times in 20.
    `relative`: value / nominal - 1, NaN where nothing is nominal.
    """

    value: Array
    error: Array
    low: Array
    high: Array
    nominal: Array
    relative: Array
    texts: int

    @property
    def median_error(self) -> float:
        """The median of |relative| over the heads that have a nominal slope; NaN for none."""
        known = np.abs(self.relative[~np.isnan(self.relative)])
        return float(np.median(known)) if len(known) else math.nan


@dataclass(frozen=True)
class Line:
    """A straight line through each head's curve: slope [head], nats per token, and the share of
    the curve's variance that it explains [head]; NaN for a curve that doesn't vary.

    High shares are no proof of a line: any curve that keeps falling has one.
    """

    slope: Array
    explained: Array


def compare(measured: Array, nominal: Array, weight: Array | None = None) -> Slopes:
    """Measured slopes [text, head] against nominal ones [head], -m_h for ALiBi and 0 for no bias.

    Texts count by `weight` [text] (their pairs, where lengths differ). The error is by text, not
    by pair: pairs of one text share their content. LengthError for no text.
    """
    texts = len(measured)
    if not texts:
        raise LengthError(say("Expected the slopes of at least 1 text; got none."))
    share = np.ones(texts) if weight is None else weight
    share = share / share.sum()
    value = share @ measured
    error = np.full_like(value, np.nan)
    if texts > 1:
        error = np.sqrt(share**2 @ (measured - value) ** 2 * texts / (texts - 1))
    half = _t(texts - 1) * error
    known = nominal != 0
    relative = np.where(known, value / np.where(known, nominal, 1) - 1, np.nan)
    return Slopes(value, error, value - half, value + half, nominal, relative, texts)


def line(curve: Array, pairs: npt.NDArray[np.integer]) -> Line:
    """Least squares of a curve [head, distance] on distance, each distance counted by its pairs."""
    weight = pairs / pairs.sum()
    d = np.arange(curve.shape[1]) - weight @ np.arange(curve.shape[1])
    y = curve - (curve @ weight)[:, None]
    slope = y @ (weight * d) / (weight @ d**2)
    total, told = y**2 @ weight, slope**2 * (weight @ d**2)
    varies = np.ptp(curve, axis=1) > 0
    return Line(slope, np.where(varies, told / np.where(varies, total, 1), np.nan))


def _t(freedom: int) -> float:
    """Student's t at 97.5 % by Abramowitz & Stegun 26.7.5: within 1 % from 2 degrees of freedom.

    With 1 degree (two texts) the series is 11 % short, so the exact value stands for it; with none
    there is no interval.
    """
    if freedom < 2:
        return math.tan(0.475 * math.pi) if freedom else math.nan
    x = NormalDist().inv_cdf(0.975)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + math.fsum(t / freedom**n for n, t in enumerate(terms, 1))
