"""Slopes over texts against nominal ones, their intervals against tables; lines by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from viz_core.errors import LengthError
from viz_core.signatures import slope

Array = npt.NDArray[np.float64]


def test_slopes_are_compared_head_by_head() -> None:
    measured = np.array([[-0.5, -0.26, 0.01], [-0.5, -0.26, -0.01]])
    found = slope.compare(measured, np.array([-0.5, -0.25, 0.0]))
    assert found.texts == 2
    np.testing.assert_allclose(found.value, [-0.5, -0.26, 0])
    np.testing.assert_allclose(found.relative, [0, 0.04, np.nan])
    np.testing.assert_allclose(found.error, [0, 0, 0.01])
    np.testing.assert_allclose(found.high - found.value, 12.706 * found.error, rtol=1e-4)
    assert found.median_error == pytest.approx(0.02)


def test_without_anything_nominal_there_is_no_relative_error() -> None:
    found = slope.compare(np.ones((3, 2)), np.zeros(2))
    assert np.isnan(found.relative).all()
    assert math.isnan(found.median_error)


def test_texts_count_by_their_weight() -> None:
    measured, weight = np.array([[1.0], [2.0], [6.0]]), np.array([1.0, 1.0, 2.0])
    found = slope.compare(measured, np.array([1.0]), weight)
    assert found.value[0] == 15 / 4
    spread = (1 * 2.75**2 + 1 * 1.75**2 + 4 * 2.25**2) / 16
    assert found.error[0] == pytest.approx(math.sqrt(spread * 3 / 2))
    tenfold = slope.compare(measured, np.array([1.0]), 10 * weight)
    np.testing.assert_allclose(tenfold.error, found.error)


@pytest.mark.parametrize(
    ("texts", "table"), [(3, 4.303), (4, 3.182), (5, 2.776), (9, 2.306), (16, 2.131), (61, 2.000)]
)
def test_intervals_are_students(texts: int, table: float) -> None:
    measured = np.random.default_rng(0).standard_normal((texts, 1))
    found = slope.compare(measured, np.ones(1))
    assert found.error[0] == pytest.approx(measured.std(ddof=1) / math.sqrt(texts))
    assert (found.high - found.low)[0] / 2 / found.error[0] == pytest.approx(table, rel=0.01)


def test_a_single_text_has_no_interval_and_none_is_refused() -> None:
    found = slope.compare(np.array([[-0.5]]), np.array([-0.5]))
    assert np.isnan([found.error, found.low, found.high]).all()
    assert found.relative[0] == 0
    with pytest.raises(LengthError, match="at least 1 text"):
        slope.compare(np.empty((0, 2)), np.ones(2))


def test_heads_without_bias_seem_to_have_a_slope_as_often_as_chance_has_it(
    rejected: Callable[[Array], int],
) -> None:
    """The interval leaves 0 out in 5 % of 200 heads, from 5 texts each."""
    measured = np.random.default_rng(0).standard_normal((5, 200)) * 1e-3
    found = slope.compare(measured, np.zeros(200))
    out = (found.low > 0) | (found.high < 0)
    assert 3 <= rejected(np.where(out, 0.0, 1.0)) <= 19


def test_a_line_is_found_with_its_share() -> None:
    d = np.arange(100.0)
    alternating = np.where(np.arange(100) % 2, 1.0, -1.0)
    curves = np.stack((3 - 0.25 * d, 7 + 0 * d, alternating))
    found = slope.line(curves, np.full(100, 5))
    np.testing.assert_allclose(found.slope, [-0.25, 0, 6e-4], atol=1e-5)
    np.testing.assert_allclose(found.explained, [1, np.nan, 3e-4], atol=1e-5)


def test_a_line_counts_distances_by_their_pairs() -> None:
    d, pairs = np.arange(60.0), np.arange(60, 0, -1)
    y = -np.log1p(d)
    found = slope.line(y[None], pairs)
    fitted = np.polynomial.Polynomial.fit(d, y, 1, w=np.sqrt(pairs)).convert()
    assert found.slope[0] == pytest.approx(fitted.coef[1])
    centred = y - np.average(y, weights=pairs)
    left = np.average((y - fitted(d)) ** 2, weights=pairs)
    expected = 1 - left / np.average(centred**2, weights=pairs)
    assert found.explained[0] == pytest.approx(expected)
