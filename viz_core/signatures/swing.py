"""Swing: how large a head's ripples are, in nats.

`ripple.fit` tells their shape: what share of the swings lies at RoPE's frequencies, however small
they are, and RoPE's rotation gives even a model that has learned nothing that shape. Whether they
matter is a question of size; a wave of a tenth of a nat moves attention by a tenth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.signatures import frequencies, trend

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Swing:
    """Root mean squares over all pairs, nats; arrays [head].

    `size`: of the curve less its trend. `noise`: of the curve's standard error, which is what
    the difference between texts alone would leave of a curve without any ripple.
    """

    size: Array
    noise: Array


def measure(curve: Array, error: Array, pairs: npt.NDArray[np.integer], theta: Array) -> Swing:
    """The swings of a curve [head, distance], nats, with its standard error [head, distance].

    `theta` [pair]: RoPE's frequencies, radians per token; the slow ones belong to the trend, as in
    `ripple.fit`. Distances count by their `pairs`. NaN errors (of one text) give a NaN.
    """
    slow = theta[~frequencies.fast(theta, curve.shape[1])]
    rest = trend.remove(curve, pairs, slow)
    return Swing(_root(rest, pairs), _root(error, pairs))


def _root(values: Array, pairs: npt.NDArray[np.integer]) -> Array:
    return np.asarray(np.sqrt(np.average(values**2, axis=1, weights=pairs)))
