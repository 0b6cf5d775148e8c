"""Stairs that are there, in tables and in rounding; none in lines, decays and noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import torch

from viz_core.encodings import Geometry
from viz_core.encodings.alibi import slopes
from viz_core.encodings.rope import RoPE
from viz_core.encodings.t5 import bucket
from viz_core.errors import LengthError
from viz_core.signatures import staircase

Array = npt.NDArray[np.float64]
LENGTH = 512
BUCKETS = bucket(torch.arange(LENGTH)).numpy()
EDGES = staircase.starts(BUCKETS)


def table(heads: int, seed: int = 0) -> Array:
    """A T5 bias [head, distance] from random tables."""
    return np.random.default_rng(seed).standard_normal((heads, 32))[:, BUCKETS]


def lines(heads: int, length: int, kind: torch.dtype) -> Array:
    """ALiBi's bias [head, distance] as computed in `kind`."""
    bias = -slopes(heads).to(kind)[:, None] * torch.arange(length).to(kind)
    return bias.double().numpy()


def test_edges_are_t5s_golden_ones() -> None:
    wide = [16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
    assert EDGES.tolist() == [*range(16), *wide]


def test_a_score_by_hand() -> None:
    """Two buckets of 4: the stretch holds the changes into distances 3, 4 and 5, here 1, 2, 1."""
    curve = -np.array([[0.0, 9.0, 9.0, 10.0, 12.0, 13.0, 50.0, 99.0]])
    found = staircase.climb(curve, np.array([0, 4]))
    assert found.edges == 1
    assert found.score[0] == pytest.approx((2 / 4 - 1 / 3) / (1 - 1 / 3))
    assert found.p[0] == pytest.approx(1 / 3, abs=0.1)


def test_t5s_table_is_a_staircase() -> None:
    found = staircase.climb(table(8), EDGES)
    assert found.edges == 13  # of 31: where both buckets are at least 3 wide
    np.testing.assert_allclose(found.score, 1)
    np.testing.assert_allclose(found.p, 1 / 200)


def test_stairs_are_seen_through_content(noise: Callable[..., Array]) -> None:
    content = 0.2 * noise(0.9, 8, LENGTH, 0) - 0.02 * np.arange(LENGTH)
    found = staircase.climb(table(8) + content, EDGES)
    assert ((found.score > 0.15) & (found.score < 0.8)).all()
    assert (found.p <= 0.05).all()


@pytest.mark.parametrize("heads", [8, 12])
def test_alibis_line_in_float32_has_no_stairs(heads: int) -> None:
    found = staircase.climb(lines(heads, 2048, torch.float32), EDGES)
    assert np.abs(found.score).max() < staircase.TIE
    np.testing.assert_array_equal(found.p, 1)


def test_alibis_line_in_bfloat16_has_stairs_of_its_own() -> None:
    """8 significant bits: past distance 512 the bias is level for 4 tokens, past 1,024 for 8."""
    rounded, true = (lines(8, 2048, kind) for kind in (torch.bfloat16, torch.float32))
    own = staircase.starts(rounded[-1])
    found = staircase.climb(rounded, own)
    assert found.edges > 200
    np.testing.assert_allclose(found.score, 1)
    np.testing.assert_allclose(found.p, 1 / 200)
    np.testing.assert_array_equal(staircase.climb(true, own).p, 1)
    np.testing.assert_array_equal(staircase.climb(rounded, EDGES).p, 1)  # exact up to 256


def test_smooth_decay_and_ripples_have_no_stairs() -> None:
    d = np.arange(LENGTH)
    q, k = torch.randn(2, 8, 32, generator=torch.Generator().manual_seed(0))
    rope = RoPE(Geometry(8, 32, 256, LENGTH)).law(torch.arange(LENGTH), q, k, 1.0).numpy()
    decays = np.stack((-np.log1p(d), -np.sqrt(d), -(d**1.5), np.exp(-d / 40)))
    assert staircase.climb(decays, EDGES).p.min() > 0.2
    assert (staircase.climb(rope, EDGES).p > 0.05).sum() >= 7


@pytest.mark.parametrize("memory", [0.0, 0.9, 1.0])
def test_noise_has_stairs_as_often_as_chance_has_it(
    memory: float, noise: Callable[..., Array], rejected: Callable[[Array], int]
) -> None:
    found = staircase.climb(noise(memory, 200, LENGTH, 1), EDGES)
    assert 3 <= rejected(found.p) <= 19
    assert abs(found.score.mean()) < 0.02


def test_a_level_curve_has_none() -> None:
    found = staircase.climb(np.full((2, LENGTH), 3.0), EDGES)
    np.testing.assert_array_equal(found.score, 0)
    np.testing.assert_array_equal(found.p, 1)


def test_edges_past_the_curve_are_left_out() -> None:
    assert staircase.climb(table(1)[:, :60], EDGES).edges == 7  # 24 .. 52; 59 has 1 token left
    with pytest.raises(LengthError, match="has 20 distances and none"):
        staircase.climb(table(1)[:, :20], EDGES)
