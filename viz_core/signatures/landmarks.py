"""Landmarks of a head: the distances at which its stairs, its ripple and its reach are seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.errors import LengthError
from viz_core.signatures import frequencies, reach, ripple, spectrum, staircase, trend
from viz_core.types import Curve

SHARE = 0.9  # of the attention of a straight law, within its reach
LEVEL = 3  # distances, from which on `staircase.climb` can tell a level from a step

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Wave:
    """The strongest wave of a curve: its period and the distance of its first crest, tokens.

    `explained`, `expected` and `p` are `ripple.fit`'s, of all of RoPE's frequencies together.
    """

    period: float
    first: float
    explained: float
    expected: float
    p: float


@dataclass(frozen=True)
class Stairs:
    """Where a law goes from one level to the next, as distances that begin a level, tokens, and how
    much the curve steps there. Both are `staircase.climb`'s, of levels wide enough to be told."""

    edges: tuple[int, ...]
    score: float
    p: float


@dataclass(frozen=True)
class Landmarks:
    """What one head has of all that.

    `slope`: of a law that falls in a straight line, nats per token (positive), with its `reach`:
    the tokens that hold SHARE of a query's attention by the law alone, in a text without end;
    None for other laws. `turns`: whether the encoding turns queries and keys; `wave` is None where
    it doesn't, or where the text is too short to measure; likewise `stairs`.
    """

    slope: float | None = None
    reach: float | None = None
    stairs: Stairs | None = None
    turns: bool = False
    wave: Wave | None = None


def find(curve: Curve, law: Array | None, head: int, theta: Array) -> Landmarks:
    """Those of one head of a layer.

    `law` [head, distance], nats, where the encoding has one; `theta` [pair], radians per token,
    of RoPE, or empty.
    """
    if len(theta):
        return Landmarks(turns=True, wave=_wave(curve, head, theta))
    if law is None or law.shape[1] < 3 or not np.isfinite(law[head]).all():
        return Landmarks()
    steps = np.diff(law[head])
    if steps[0] < 0 and np.allclose(steps, steps[0], rtol=1e-3):
        slope = np.array([-steps[0]])
        return Landmarks(float(slope[0]), float(reach.nominal(slope, (SHARE,))[0, 0]))
    return Landmarks(stairs=_stairs(curve, law[head], head))


def _stairs(curve: Curve, law: Array, head: int) -> Stairs | None:
    """None for a law that never keeps its level: it has no stairs."""
    edges = staircase.starts(law)
    if len(edges) > len(law) / 2:
        return None
    try:
        found = staircase.climb(curve.value[head : head + 1], edges)
    except LengthError:
        return None
    width = np.diff(np.append(edges, len(law)))
    wide = np.minimum(width[:-1], width[1:]) >= LEVEL
    return Stairs(tuple(edges[1:][wide].tolist()), float(found.score[0]), float(found.p[0]))


def _wave(curve: Curve, head: int, theta: Array) -> Wave | None:
    value, pairs = curve.value[head : head + 1], curve.pairs
    try:
        found = ripple.fit(value, pairs, theta)
        period = 1 / float(spectrum.spectrum(value, pairs, theta).peak[0])
    except LengthError:
        return None
    # the crest: a cosine and a sine of that period, by least squares of what the trend leaves
    slow = theta[~frequencies.fast(theta, value.shape[1])]
    rest, weight = trend.remove(value, pairs, slow)[0], trend.weights(pairs)
    angle = 2 * math.pi * np.arange(len(rest)) / period
    waves = np.stack((np.cos(angle), np.sin(angle)), axis=1)
    (a, b), *_ = np.linalg.lstsq(waves * weight[:, None], rest * weight, rcond=None)
    first = math.atan2(b, a) / (2 * math.pi) * period % period
    return Wave(
        period, first, float(found.explained[0]), float(found.expected[0]), float(found.p[0])
    )
