"""RoPE's frequencies as a curve of some length meets them: theta [pair], radians per token.

Pairs are numbered from 0, fastest first. A number between two pairs stands for a frequency between
theirs, evenly on a logarithmic scale: k for base^(-2k / D) where nothing is scaled, and a step is
from one pair to the next under any scaling.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from viz_core.errors import UsageError
from viz_core.words import say

TURNS = 2.0  # turns over a curve from which a wave can be told from the curve's trend

Array = npt.NDArray[np.float64]


def at(theta: Array, number: Array) -> Array:
    """The frequency at pair numbers from -1 to the number of pairs: radians per token."""
    known = _padded(theta)
    return np.asarray(np.exp(np.interp(number, np.arange(-1, len(theta) + 1), known)))


def number(theta: Array, frequency: Array) -> Array:
    """The inverse of `at`: the pair number of frequencies in radians per token.

    A frequency that has nothing to do with theta is a quarter of a step from the nearest pair on
    average.
    """
    known = _padded(theta)
    return np.asarray(np.interp(-np.log(frequency), -known, np.arange(-1.0, len(theta) + 1)))


def fast(theta: Array, distances: int) -> npt.NDArray[np.bool_]:
    """Which pairs turn often enough within `distances` to be told from a trend: [pair].

    Those that half a step slower would still make TURNS turns.
    """
    return np.asarray(at(theta, np.arange(0.5, len(theta))) * distances >= TURNS * 2 * math.pi)


def turns(theta: Array, length: int) -> Array:
    """Turns that each pair completes within the trained length L: L / lambda [pair].

    YaRN's r (Peng et al. 2023). A pair below 1 never completed a turn in training: past L it shows
    angles that the model hasn't met.
    """
    return np.asarray(length * theta / (2 * math.pi))


def _padded(theta: Array) -> Array:
    """Log frequencies with one more step at either end; UsageError unless they descend."""
    if len(theta) < 2 or not (theta > 0).all() or not (np.diff(theta) < 0).all():
        raise UsageError(
            say(
                "Expected at least 2 positive frequencies, fastest first; got {came}. Leave out "
                "pairs that don't turn.",
                came=", ".join(f"{t:g}" for t in theta[:4]) or say("none"),
            )
        )
    log = np.log(theta)
    return np.concatenate(([2 * log[0] - log[1]], log, [2 * log[-1] - log[-2]]))
