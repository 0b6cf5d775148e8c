"""An example of each figure of Attribution, from arrays whose content is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from viz_core.figures import (
    attention_maps,
    attribution_map,
    distance_profiles,
    head_importance,
    reach_curve,
)
from viz_core.figures.spec import FigureSpec
from viz_core.types import Window

SIZE, LAYERS, HEADS = 24, 2, 3


def reach_series(name: str = "RoPE", accent: str = "rope") -> reach_curve.Series:
    """What is lost halves with each doubling; nothing is cut at the last."""
    added = np.array([0.8, 0.4, 0.2, 0.1, 0.0])
    return reach_curve.Series(
        name, accent, np.array([1, 2, 4, 8, SIZE]), added, added - 0.05, added + 0.05
    )


def reach_side(**change: object) -> reach_curve.Side:
    series = reach_series(), reach_series("ALiBi", "alibi")
    values = {"place": "far", "first": 9, "last": 16, "series": series, "trained_length": 16}
    return reach_curve.Side(**{**values, "length": SIZE, "texts": 8, **change})


def importance_side(**change: object) -> head_importance.Side:
    added = 0.1 * np.arange(LAYERS * HEADS, dtype=float).reshape(LAYERS, HEADS)
    values = {"name": "RoPE", "accent": "rope", "added": added}
    values |= {"low": added - 0.02, "high": added + 0.03, "texts": 8, "length": SIZE}
    return head_importance.Side(**{**values, **change})


def profiles_side() -> distance_profiles.Side:
    """A head that attends to all keys alike, of which distance 7 alone is used, against it."""
    attribution = np.zeros(SIZE)
    attribution[7] = -2.0
    even = distance_profiles.even(SIZE)
    return distance_profiles.Side("RoPE, head 1", "rope", even, attribution)


def map_side() -> attention_maps.Side:
    count = np.tril(np.ones((SIZE, SIZE), np.int64))
    value = np.where(count > 0, -1.0, -np.inf)[None].astype(np.float32)
    window = Window(value, count, (0, SIZE), (0, SIZE), 1)
    return attention_maps.Side(window, 0, "RoPE · layer 1, head 1", "rope", 16, SIZE)


def attribution() -> np.ndarray:
    """1 nat at distance 7 of the last query, and -1 nat at distance 3."""
    found = np.zeros((SIZE, SIZE))
    found[-1, -8], found[-1, -4] = 1.0, -1.0
    return found


EXAMPLES: dict[str, Callable[[], FigureSpec]] = {
    "reach-curve": lambda: reach_curve.build([reach_side()]),
    "head-importance": lambda: head_importance.build(
        [importance_side()], "it moves nothing", "far targets"
    ),
    "distance-profiles": lambda: distance_profiles.build([profiles_side()], "token 5"),
    "attribution-map": lambda: attribution_map.build(map_side(), attribution(), "token 5"),
}
