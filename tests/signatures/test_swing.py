"""Swings are as large as the waves in a curve, and a trend is none of them."""

from __future__ import annotations

import numpy as np
import pytest

from viz_core.signatures import swing

D = 500
PAIRS = np.arange(D, 0, -1)
THETA = 10_000.0 ** (-np.arange(16) / 16)


def test_a_wave_swings_by_its_amplitude_over_the_root_of_two() -> None:
    d = np.arange(D)
    waves = np.stack([a * np.cos(0.3 * d) for a in (0.02, 0.2, 2.0)])
    falling = -0.01 * d - np.log1p(d)
    found = swing.measure(waves + falling, np.full_like(waves, 0.05), PAIRS, THETA)
    assert found.size == pytest.approx(np.array([0.02, 0.2, 2.0]) / np.sqrt(2), rel=0.02)
    assert found.noise == pytest.approx([0.05] * 3)


def test_a_trend_is_no_swing() -> None:
    d = np.arange(D)
    slow = np.cos(THETA[-1] * d)
    found = swing.measure((5 - 0.01 * d + slow)[None], np.zeros((1, D)), PAIRS, THETA)
    assert found.size == pytest.approx([0.0], abs=1e-9)


def test_what_is_left_of_noise_is_what_its_error_says() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.1, (40, D)) / np.sqrt(PAIRS / PAIRS.mean())
    error = np.broadcast_to(0.1 / np.sqrt(PAIRS / PAIRS.mean()), noise.shape)
    found = swing.measure(noise, error, PAIRS, THETA)
    assert np.median(found.size / found.noise) == pytest.approx(1.0, abs=0.05)


def test_one_text_has_no_error_and_so_no_expectation() -> None:
    found = swing.measure(np.zeros((1, D)), np.full((1, D), np.nan), PAIRS, THETA)
    assert np.isnan(found.noise).all() and np.isfinite(found.size).all()
