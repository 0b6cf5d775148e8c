"""Frequency use by hand."""

from __future__ import annotations

import numpy as np
import pytest

from viz_core.signatures.pairs import use

THETA = 10000 ** (-np.arange(16) / 16)


def test_pairs_used_alike_have_the_even_share() -> None:
    found = use(np.full((2, 16), 3.0), np.full((2, 16), 0.1), THETA, 512)
    np.testing.assert_allclose(found.share, found.even)
    assert found.even == 1 / 16
    np.testing.assert_allclose(found.effective, 16)
    assert found.incomplete_even == 8 / 16  # periods of 628 tokens and more
    np.testing.assert_allclose(found.incomplete, found.incomplete_even)
    assert (found.turns < 1).tolist() == [False] * 8 + [True] * 8


def test_the_share_is_of_products_of_norms() -> None:
    query, key = np.zeros((1, 16)), np.ones((1, 16))
    query[0, [0, 9]], key[0, 9] = 1, 3
    found = use(query, key, THETA, 512)
    assert found.share[0, [0, 9]].tolist() == [1 / 4, 3 / 4]
    assert found.incomplete[0] == 3 / 4
    entropy = 0.25 * np.log(4) + 0.75 * np.log(4 / 3)
    assert found.effective[0] == pytest.approx(np.exp(entropy))


def test_a_head_without_norm_has_no_shares() -> None:
    found = use(np.zeros((1, 16)), np.ones((1, 16)), THETA, 512)
    assert np.isnan(found.share).all() and np.isnan(found.effective[0])
    assert np.isnan(found.incomplete[0])


def test_without_a_trained_length_nothing_is_said_of_full_turns() -> None:
    found = use(np.ones((1, 16)), np.ones((1, 16)), THETA, 0)
    assert np.isnan(found.incomplete[0]) and np.isnan(found.incomplete_even)
    assert found.share[0].tolist() == [1 / 16] * 16
