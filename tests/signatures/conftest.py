"""What the tests of statistics share: how many of 200 nulls may be called a find."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[np.float64]


@pytest.fixture
def rejected() -> Callable[[Array], int]:
    """Counts p <= 0.05 among 200 draws without anything to find: 3 to 19 in 99.5 % of all cases
    (binomial, mean 10)."""

    def count(p: Array) -> int:
        assert p.shape == (200,)
        return int((p <= 0.05).sum())

    return count


@pytest.fixture
def noise() -> Callable[[float, int, int, int], Array]:
    """Noise [head, distance] that keeps `memory` of its last value: 0 is white, 1 a random walk."""

    def draw(memory: float, heads: int, distances: int, seed: int) -> Array:
        step = np.random.default_rng(seed).standard_normal((heads, distances))
        for d in range(1, distances):
            step[:, d] += memory * step[:, d - 1]
        return step

    return draw
