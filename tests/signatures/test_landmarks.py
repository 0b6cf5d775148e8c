"""Landmarks of made-up curves: stairs, crests and reaches are found where they were put."""

import math

import numpy as np
import pytest

from viz_core.signatures.landmarks import find
from viz_core.types import Curve

N = 512
D = np.arange(N, dtype=np.float64)
NONE = np.empty(0)
THETA = 10000.0 ** (-np.arange(16) / 16)


def curve(value: np.ndarray) -> Curve:
    rng = np.random.default_rng(1)
    noisy = value[None] + rng.normal(0, 0.02, (1, N))
    pairs = np.arange(N, 0, -1) + 200
    return Curve(noisy, np.zeros((1, N)), pairs, 4, 4)


def test_a_straight_law_has_its_closed_form_of_reach() -> None:
    law = -0.03125 * D[None]
    found = find(curve(law[0]), law, 0, NONE)
    assert found.slope == pytest.approx(0.03125)
    assert found.reach == pytest.approx(math.log(10) / 0.03125)
    assert found.wave is None
    assert found.stairs is None


@pytest.mark.parametrize(("pair", "shift"), [(3, 0.0), (3, 12.0), (5, 30.0)])
def test_crests_lie_where_the_wave_is_highest(pair: int, shift: float) -> None:
    period = 2 * math.pi / THETA[pair]
    wave = np.cos(2 * math.pi * (D - shift) / period) - np.log1p(D)
    found = find(curve(wave), None, 0, THETA).wave
    assert found is not None
    assert found.p <= 0.05
    assert found.period == pytest.approx(period, rel=0.05)
    off = (found.first - shift + period / 2) % period - period / 2
    assert abs(off) < period / 12


def test_noise_has_no_ripple() -> None:
    found = find(curve(-np.log1p(D)), None, 0, THETA)
    assert found.turns
    assert found.wave is not None
    assert found.wave.p > 0.05


def test_stairs_are_the_edges_of_the_law() -> None:
    edges = [16, 32, 64, 128]
    law = -np.searchsorted(edges, D, side="right").astype(np.float64)[None]
    found = find(curve(law[0]), law, 0, NONE).stairs
    assert found is not None
    assert list(found.edges) == edges
    assert found.p <= 0.05
    level = find(curve(-0.01 * D), law, 0, NONE).stairs
    assert level is not None
    assert level.p > 0.05


def test_a_smooth_law_that_bends_has_no_landmarks() -> None:
    law = -np.log1p(D)[None]
    found = find(curve(law[0]), law, 0, NONE)
    assert found.reach is None
    assert found.stairs is None


def test_a_short_text_has_no_wave_but_is_known_to_turn() -> None:
    short = Curve(np.zeros((1, 8)), np.zeros((1, 8)), np.arange(8, 0, -1), 1, 4)
    found = find(short, None, 0, THETA)
    assert found.turns
    assert found.wave is None
