"""A logarithmic axis of a training on which the model that has learned nothing yet has a place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes
from viz_core.figures.spec import Axis
from viz_core.words import say

AHEAD = 3.0  # by what factor the untrained model, at 0, stands before the first step of all
EDGES = 1.4, 1.25  # by what factor the axis goes on before its first and after its last point
APART = 0.13  # of the axis, between two ticks with their labels

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Steps:
    """The `axis`; `zero`, where 0 stands on it, None where no training begins there; and `marks`,
    one between 0 and the first step, which says that the scale is broken there."""

    axis: Axis
    zero: float | None
    marks: tuple[tuple[float, str], ...]

    def places(self, seen: Array) -> Array:
        """Where so many steps, or millions of tokens, stand."""
        return np.where(seen > 0, seen, self.zero or np.nan)


def over(seen: Sequence[Array], tokens: bool) -> Steps:
    """The axis for all of `seen`: millions of tokens, or steps."""
    every = np.concatenate(seen)
    later = every[every > 0]
    first, last = (float(later.min()), float(later.max())) if len(later) else (1.0, 1.0)
    zero = first / AHEAD if (every == 0).any() else None
    ends = (zero or first) / EDGES[0], max(last, 2 * first) * EDGES[1]
    shown = list[float]() if zero is None else [zero]
    for tick in _axes.round_numbers(first / 1.1, ends[1]):
        if not shown or tick > shown[-1] * (ends[1] / ends[0]) ** APART:
            shown.append(tick)
    ticks = tuple((at, "0" if at == zero else word) for at, word in _axes.labelled(shown))
    label = say("million tokens seen (log scale)") if tokens else say("training step (log scale)")
    marks = () if zero is None else ((math.sqrt(zero * first), ""),)
    return Steps(Axis(label, ends, True, ticks), zero, marks)
