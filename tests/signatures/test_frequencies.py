"""Pair numbers and turns against RoPE's own frequencies and golden numbers."""

from __future__ import annotations

import numpy as np
import pytest

from viz_core.encodings._scalings import Scaling
from viz_core.encodings._scalings import frequencies as ropes
from viz_core.errors import UsageError
from viz_core.signatures import frequencies

PLAIN = ropes(32)[0].numpy()


@pytest.mark.parametrize("kind", ["none", "linear", "ntk", "yarn", "llama3"])
def test_whole_numbers_are_the_pairs_and_numbers_are_found_again(kind: str) -> None:
    theta = ropes(32, scaling=Scaling(kind, 4.0))[0].numpy()
    np.testing.assert_allclose(frequencies.at(theta, np.arange(16.0)), theta)
    between = np.linspace(-1, 16, 52)
    np.testing.assert_allclose(
        frequencies.number(theta, frequencies.at(theta, between)), between, atol=1e-9
    )


def test_a_number_between_is_a_power_of_the_base() -> None:
    between = np.array([-1.0, -0.5, 2.25, 15.5, 16.0])
    np.testing.assert_allclose(frequencies.at(PLAIN, between), 10000 ** (-between / 16))


def test_turns_are_yarns_golden_ones() -> None:
    expected = [25.769, 14.491, 8.1487, 4.5824, 2.5769, 1.4491]
    np.testing.assert_allclose(frequencies.turns(PLAIN, 512)[2:8], expected, rtol=5e-5)


def test_fast_pairs_turn_twice_even_half_a_step_slower() -> None:
    """Half a step of base 10,000 and 32 channels is a factor 10^(1/8)."""
    for distances in (17, 300, 2048):
        expected = [distances * t / 10**0.125 / (2 * np.pi) >= 2 for t in PLAIN]
        assert frequencies.fast(PLAIN, distances).tolist() == expected
    assert frequencies.fast(PLAIN, 508).sum() == 6


@pytest.mark.parametrize("theta", [[], [1.0], [1.0, 0.0], [0.1, 1.0], [1.0, 1.0]])
def test_frequencies_that_do_not_descend_are_refused(theta: list[float]) -> None:
    with pytest.raises(UsageError, match="at least 2 positive frequencies, fastest first"):
        frequencies.at(np.array(theta), np.zeros(1))
