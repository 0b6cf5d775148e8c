"""Staircase: whether a head's curve steps at given edges, and is level in between.

Around each edge lies a stretch of equally many distances on either side, short enough to stay
within the two buckets. The score is the share of the curve's rises and falls in these stretches
that happens at the edges, less what would be there if they were spread evenly, as a share of the
most it could be: 1 for a staircase, 0 for a line. The null shifts each edge, on its own, to any
place in its stretch: where a curve changes smoothly no place is special, and in a straight stretch
with noise all are alike, however the noise hangs together from one distance to the next.

(A fit of steps against a smooth curve with as many parameters would need the curve's shape to be
guessed right; a smooth curve that the guess doesn't follow would then pass for steps.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.errors import LengthError
from viz_core.signatures.chance import DRAWS, p_value, rounding
from viz_core.words import say

TIE = 1e-5  # scores closer than this differ by float32's rounding of a straight line's steps

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Staircase:
    """Scores of a layer's heads; arrays [head]. `edges`: how many had room around them."""

    score: Array
    p: Array
    edges: int


def starts(level: npt.NDArray[np.generic]) -> Integers:
    """The first distance of each run of equal values: bucket numbers or biases by distance."""
    return np.flatnonzero(np.concatenate(([True], level[1:] != level[:-1]))).astype(np.int64)


def climb(curve: Array, edges: Integers, draws: int = DRAWS, seed: int = 0) -> Staircase:
    """How much a curve [head, distance], nats, steps at `edges`, the first distance of each bucket.

    Edges count where both neighbouring buckets are at least 3 distances wide: between narrower
    ones level and step can't be told apart (T5's first 16 buckets hold one distance each). Changes
    count without their sign; steps that only interrupt a steeper slope are missed. A curve that
    changes by no more than float32 rounds off has score 0 and p = 1. LengthError where no edge has
    room.
    """
    middle, room = _stretches(edges, curve.shape[1])
    if not len(middle):
        raise LengthError(
            say(
                "Expected an edge between buckets of at least 3 distances each; the curve has "
                "{distances:,} distances and none. Measure a longer text.",
                distances=curve.shape[1],
            )
        )
    change = np.abs(np.diff(curve, axis=1))
    rng = np.random.default_rng(seed)
    total, even, seen = (np.zeros(len(curve)) for _ in range(3))
    shifted = np.zeros((draws, len(curve)))
    for edge, around in zip(middle, room, strict=True):
        near = change[:, edge - 1 - around : edge + around]  # the change into each distance
        total += near.sum(axis=1)
        even += near.mean(axis=1)
        seen += near[:, around]
        shifted += near[:, rng.integers(near.shape[1], size=draws)].T
    level = total <= rounding(curve) * (2 * room + 1).sum()
    most = np.where(level, 1, total - even)
    score = np.where(level, 0, (seen - even) / most)
    null = np.where(level, 0, (shifted - even) / most)
    return Staircase(score, p_value(score, null, TIE), len(middle))


def _stretches(edges: Integers, distances: int) -> tuple[Integers, Integers]:
    """(edges with room, the distances on either side of each that belong to its stretch).

    Less than half of the narrower neighbour, so that stretches neither touch nor reach past it.
    """
    width = np.diff(np.append(edges[edges < distances], distances))
    room = (np.minimum(width[:-1], width[1:]) - 1) // 2
    wide = room > 0
    return edges[1 : len(width)][wide], room[wide]
