"""Ripple: whether a head's curve swings at RoPE's own frequencies rather than at any others.

RoPE's score is exactly a sum of waves, one per pair, with the periods lambda_k = 2 pi / theta_k
(Su et al. 2021, 3.4.2). Least squares of the curve, less its trend, on the cosines and sines of the
known frequencies therefore tells how much of it is RoPE. Any waves explain something: the null
moves every frequency by up to half a step towards a neighbour, so that random sets are as many and
as evenly spread as the known one. (Frequencies drawn freely bunch and leave gaps. In noise that is
mostly slow such sets explain more than an even one, and the test finds too little.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.errors import LengthError
from viz_core.signatures import frequencies, trend
from viz_core.signatures.chance import DRAWS, p_value, rounding
from viz_core.words import say

SINGULAR = 1e-10  # of the largest eigenvalue: waves too alike to be told apart count once

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ripple:
    """How much of the detrended curves the known frequencies explain; arrays [head].

    `explained`: adjusted R^2; `expected`: its mean over random frequencies; `tested` [pair]: the
    pairs that were fitted, the slower ones being part of the trend.
    """

    explained: Array
    expected: Array
    p: Array
    tested: npt.NDArray[np.bool_]


def fit(
    curve: Array,
    pairs: npt.NDArray[np.integer],
    theta: Array,
    draws: int = DRAWS,
    seed: int = 0,
) -> Ripple:
    """The fit of a curve [head, distance], nats, to waves of `theta` [pair], radians per token.

    Distances count by their `pairs`. The same random sets serve all heads. A curve that its trend
    follows to within float32's rounding has nothing to explain: 0, 0 and p = 1. LengthError for a
    curve in which no pair turns twice, or with fewer distances than waves.
    """
    distances = curve.shape[1]
    tested = frequencies.fast(theta, distances)
    if not tested.any():
        raise LengthError(
            say(
                "Expected a curve in which the fastest pair turns twice; it has {distances:,} "
                "distances and the pair a period of {period:.1f}. Measure a longer text.",
                distances=distances,
                period=2 * np.pi / theta[0],
            )
        )
    weight, span = trend.weights(pairs), trend.basis(pairs, theta[~tested])
    rest = curve * weight
    rest = rest - rest @ span @ span.T
    freedom = distances - span.shape[1]
    total = (rest**2).sum(axis=1)
    flat = total <= distances * rounding(curve) ** 2
    known = np.flatnonzero(tested)
    if freedom <= 2 * len(known):
        raise LengthError(
            say(
                "Expected more distances than the {waves} waves and {terms} terms of the trend; "
                "got {distances}. Measure a longer text.",
                waves=2 * len(known),
                terms=span.shape[1],
                distances=distances,
            )
        )
    rng = np.random.default_rng(seed)
    moved = known + rng.uniform(-0.5, 0.5, (draws, len(known)))
    r2 = np.empty((1 + draws, len(curve)))
    for n, some in enumerate((theta[tested], *frequencies.at(theta, moved))):
        phase = np.arange(distances)[:, None] * some
        waves = np.hstack((np.cos(phase), np.sin(phase))) * weight[:, None]
        told, waves_told = _along(rest, waves - span @ (span.T @ waves))
        left = 1 - told / np.where(flat, 1, total)
        r2[n] = np.where(flat, 0, 1 - left * freedom / (freedom - waves_told))
    return Ripple(r2[0], r2[1:].mean(axis=0), p_value(r2[0], r2[1:]), tested)


def _along(rest: Array, waves: Array) -> tuple[Array, int]:
    """(sum of squares of `rest` [head, distance] in the span of `waves` [head], its dimension)."""
    size, direction = np.linalg.eigh(waves.T @ waves)
    apart = size > SINGULAR * size[-1]
    part = rest @ waves @ (direction[:, apart] / np.sqrt(size[apart]))
    return (part**2).sum(axis=1), int(apart.sum())
