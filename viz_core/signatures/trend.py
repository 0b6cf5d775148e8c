"""The trend of a curve: what is too slow to be a ripple within its length.

A constant, d, d^2 and ln(1 + d) take up the decay with distance, steep at first, that content gives
nearly every head; the waves of RoPE's slow pairs themselves take up the rest. Those waves make one
turn or so, which no parabola follows: what it left of them would pass for ripples of other periods.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

NEGLIGIBLE = 1e-3  # of a wave's amplitude: what slow waves add to the others below it is left out

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]


def weights(pairs: Integers) -> Array:
    """The square root of each distance's pairs over their mean: what a residual counts by."""
    return np.asarray(np.sqrt(pairs / pairs.mean()))


def basis(pairs: Integers, slow: Array) -> Array:
    """Orthonormal columns that span the trend in weighted residuals: [distance, column].

    `slow`: the frequencies [pair] of the waves in it, radians per token; none for a curve that has
    nothing to do with RoPE.
    """
    weight = weights(pairs)[:, None]
    d = np.arange(len(pairs), dtype=np.float64)
    x = d / len(d)
    smooth, _ = np.linalg.qr(np.stack((np.ones_like(x), x, x**2, np.log1p(d)), axis=1) * weight)
    phase = d[:, None] * slow
    waves = np.hstack((np.cos(phase), np.sin(phase))) * weight
    waves -= smooth @ (smooth.T @ waves)
    new, size, _ = np.linalg.svd(waves, full_matrices=False)
    return np.hstack((smooth, new[:, size > NEGLIGIBLE * np.sqrt(len(d))]))


def remove(curve: Array, pairs: Integers, slow: Array) -> Array:
    """The curve [head, distance] less its trend: least squares, distances counted by pairs."""
    weight, span = weights(pairs), basis(pairs, slow)
    return np.asarray(curve - curve * weight @ span @ span.T / weight)
