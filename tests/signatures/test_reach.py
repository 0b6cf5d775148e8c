"""Reach against ALiBi's closed forms and counts by hand; the stairs of the heads."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from viz_core.encodings.alibi import slopes
from viz_core.errors import LengthError, UsageError
from viz_core.signatures import reach as reaches

Array = npt.NDArray[np.float64]
EIGHT = slopes(8).numpy()


def test_nominal_reach_has_alibis_golden_numbers() -> None:
    """Half-lives, 90 % and 99 % reach without end, computed once from the closed forms."""
    half, most, nearly = reaches.nominal(EIGHT).T
    np.testing.assert_allclose(
        half, [1.386, 2.773, 5.545, 11.09, 22.18, 44.36, 88.72, 177.4], rtol=4e-4
    )
    np.testing.assert_allclose(most, [4.6, 9.2, 18.4, 36.8, 73.7, 147, 295, 589], rtol=3e-3)
    np.testing.assert_allclose(nearly, [9.2, 18.4, 36.8, 73.7, 147, 295, 589, 1179], rtol=3e-3)


def test_the_reach_of_a_geometric_profile_is_the_closed_form() -> None:
    profile = np.exp(-EIGHT[:, None] * np.arange(20_000))
    profile /= profile.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(reaches.reach(profile), reaches.nominal(EIGHT), rtol=1e-9)


def test_a_short_row_cuts_the_reach() -> None:
    """Two keys with 2/3 and 1/3: half of the mass within log2(1 / 0.625) tokens."""
    found = reaches.nominal(np.array([math.log(2)]), (0.5, 2 / 3), keys=2)
    np.testing.assert_allclose(found, [[math.log2(1 / 0.625), 1.0]])
    np.testing.assert_allclose(reaches.reach(np.array([[2, 1]]) / 3, (2 / 3,)), [[1.0]])


def test_without_a_slope_attention_is_uniform_over_what_a_query_sees() -> None:
    found = reaches.geometric(np.zeros(1), 3)
    np.testing.assert_allclose(found * 3, [[1 + 1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 1 / 3]])


def test_a_biass_mass_is_that_of_its_whole_map() -> None:
    n, d = 40, np.subtract.outer(np.arange(40), np.arange(40))
    for slope, found in zip(EIGHT, reaches.geometric(EIGHT, n), strict=True):
        weight = np.where(d >= 0, np.exp(-slope * np.maximum(d, 0)), 0)
        whole = weight / weight.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found, [np.trace(whole, -k) / n for k in range(n)])
        probability = np.array([[np.diagonal(whole, -k).mean() for k in range(n)]])
        np.testing.assert_allclose(reaches.mass(probability, np.arange(n, 0, -1))[0], found)


def test_a_head_that_looks_at_one_distance_has_that_reach() -> None:
    profile = np.zeros((2, 30))
    profile[0, 1] = profile[1, 17] = 1
    np.testing.assert_array_equal(reaches.reach(profile), [[1, 1, 1], [17, 17, 17]])
    leaky = 0.999_999 * profile + 0.000_001 / 30
    np.testing.assert_allclose(reaches.reach(leaky), [[1, 1, 1], [17, 17, 17]], atol=0.34)


def test_reach_grows_with_the_share() -> None:
    profile = np.random.default_rng(0).dirichlet(np.full(100, 0.2), size=20)
    shares = tuple(np.linspace(0.05, 0.99, 40))
    assert (np.diff(reaches.reach(profile, shares), axis=1) >= 0).all()


@pytest.mark.parametrize(("heads", "factor"), [(8, 2.0), (16, 2**0.5)])
def test_reach_climbs_by_alibis_factor_from_head_to_head(heads: int, factor: float) -> None:
    nominal = reaches.nominal(slopes(heads).numpy())[:, 0]
    found = reaches.progression(nominal, np.arange(1.0, heads + 1))
    for value in (found.factor, found.low, found.high):
        assert value == pytest.approx(factor)
    assert found.p < 0.01


def test_heads_that_are_no_single_series_climb_by_their_slopes() -> None:
    twelve = slopes(12).numpy()
    found = reaches.progression(reaches.nominal(twelve)[:, 1], -np.log2(twelve))
    assert found.factor == pytest.approx(2)


def test_one_bent_head_does_not_bend_the_stairs() -> None:
    measured = reaches.nominal(EIGHT)[:, 0] * np.exp(0.05 * np.sin(np.arange(8)))
    measured[6] = 3.0
    found = reaches.progression(measured, np.arange(8.0))
    assert found.factor == pytest.approx(2, rel=0.03)
    assert found.low < 2 < found.high
    assert found.p < 0.05


def test_heads_in_no_order_climb_as_often_as_chance_has_it(
    rejected: Callable[[Array], int],
) -> None:
    drawn = np.exp(np.random.default_rng(0).standard_normal((200, 8)))
    found = [reaches.progression(r, np.arange(8.0), seed) for seed, r in enumerate(drawn)]
    assert 3 <= rejected(np.array([f.p for f in found])) <= 19
    assert np.mean([f.low <= 1 <= f.high for f in found]) > 0.9


def test_what_has_no_reach_is_refused() -> None:
    with pytest.raises(UsageError, match=r"positive slopes.*got 0"):
        reaches.nominal(np.zeros(1))
    with pytest.raises(LengthError, match=r"at least 1 token.*got 0"):
        reaches.geometric(EIGHT, 0)
    with pytest.raises(LengthError, match="got 2 heads"):
        reaches.progression(np.ones(2), np.arange(2.0))
    with pytest.raises(LengthError, match="smallest reach 0"):
        reaches.progression(np.array([0.0, 1.0, 2.0]), np.arange(3.0))
