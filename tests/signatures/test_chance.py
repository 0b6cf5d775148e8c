"""p-values counted by hand; what float32 rounds off."""

from __future__ import annotations

import numpy as np

from viz_core.signatures.chance import p_value, rounding


def test_a_p_value_counts_the_draws_at_or_above_and_the_observed_one() -> None:
    null = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    np.testing.assert_array_equal(p_value(np.array([2.0, 9.0]), null), [3 / 4, 1 / 4])


def test_draws_within_the_slack_are_as_good() -> None:
    null = np.array([[1.9], [1.0], [0.5]])
    assert p_value(np.array([2.0]), null) == 1 / 4
    assert p_value(np.array([2.0]), null, slack=0.2) == 2 / 4


def test_nothing_observed_has_no_p_value() -> None:
    np.testing.assert_array_equal(p_value(np.array([np.nan, 0.0]), np.ones((3, 2))), [np.nan, 1.0])


def test_what_float32_rounds_off_grows_with_the_range_of_the_curve() -> None:
    curve = 0.1 * np.arange(2048.0) * np.array([[1.0], [7.0]])
    off = np.abs(curve - curve.astype(np.float32)).max(axis=1)
    assert (off > 0).all()
    assert (off <= rounding(curve)).all()
    np.testing.assert_allclose(rounding(curve + 100), rounding(curve))
