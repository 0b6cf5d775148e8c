"""The trend takes away what it says, and leaves ripples alone."""

from __future__ import annotations

import numpy as np
import pytest

from viz_core.signatures import frequencies, trend

D = 400
PAIRS = np.arange(D + 8, 8, -1) * 5
THETA = 10000 ** (-np.arange(16) / 16)
SLOW = THETA[~frequencies.fast(THETA, D)]


def test_decay_and_slow_waves_leave_nothing() -> None:
    d = np.arange(D)
    smooth = np.stack((0 * d + 3, 0.1 * d, -((d - 9) ** 2) / 1e3, -2 * np.log1p(d)))
    assert np.abs(trend.remove(smooth, PAIRS, np.empty(0))).max() < 1e-9
    waves = np.cos(SLOW[:, None] * d + np.arange(len(SLOW))[:, None])
    assert np.abs(trend.remove(smooth, PAIRS, SLOW)).max() < 1e-9
    left = trend.remove(waves, PAIRS, SLOW)
    assert np.sqrt(np.average(left**2, axis=1, weights=PAIRS)).max() < 2e-3
    assert np.abs(trend.remove(waves[:1], PAIRS, np.empty(0))).max() > 0.3  # 1.1 turns


def test_a_ripple_is_left_as_it_is() -> None:
    wave = np.sin(THETA[2] * np.arange(D))[None]
    left = trend.remove(wave - 3 * np.log1p(np.arange(D)), PAIRS, SLOW)
    assert np.abs(left - wave)[:, 20:-40].max() < 0.06  # at the ends the trend bends with it


def test_what_is_left_owes_nothing_to_the_trend_where_pairs_count() -> None:
    d, noise = np.arange(D), np.random.default_rng(0).standard_normal((3, D))
    left = trend.remove(noise, PAIRS, SLOW)
    for column in (np.ones(D), d, d**2, np.log1p(d), np.cos(SLOW[0] * d)):
        agree = np.abs(left @ (PAIRS * column)) / np.sqrt(left**2 @ PAIRS * (column**2 @ PAIRS))
        assert agree.max() < 1e-3


def test_the_basis_is_orthonormal_and_small() -> None:
    span = trend.basis(PAIRS, SLOW)
    np.testing.assert_allclose(span.T @ span, np.eye(span.shape[1]), atol=1e-12)
    assert 4 <= span.shape[1] <= 12
    assert trend.basis(PAIRS, np.empty(0)).shape == (D, 4)


def test_distances_count_by_their_pairs() -> None:
    assert (trend.weights(PAIRS) ** 2).sum() == pytest.approx(D)
