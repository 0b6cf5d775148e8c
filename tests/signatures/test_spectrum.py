"""Peaks where waves were put, moved by PI and NTK as their formulas say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch

from viz_core.encodings import Geometry, Value
from viz_core.encodings.rope import RoPE
from viz_core.errors import LengthError
from viz_core.signatures import frequencies
from viz_core.signatures.spectrum import spectrum

Array = npt.NDArray[np.float64]
D = 1000
PAIRS = np.arange(D + 24, 24, -1) * 12


def rope(**parameters: Value) -> RoPE:
    return RoPE(Geometry(5, 32, 160, 512), **parameters)  # type: ignore[arg-type]


def one_pair_per_head(encoding: RoPE) -> Array:
    """Scores [head, distance] of constant q and k in which head h uses pair h ten times most."""
    vector = torch.ones(5, 32)
    for h in range(5):
        vector[h, [h, h + 16]] = 10**0.5
    return encoding.law(torch.arange(D), vector, vector, 32**-0.5).double().numpy()


def test_a_wave_has_its_frequency_and_its_amplitude() -> None:
    d = np.arange(D)
    frequency, amplitude = np.array([[0.005], [0.0377], [0.31]]), np.array([[2.0], [0.1], [5.0]])
    curve = amplitude * np.cos(2 * np.pi * frequency * d + 1) - np.log1p(d)
    found = spectrum(curve, PAIRS)
    assert found.amplitude.shape == (3, len(found.frequency))
    assert found.frequency[0] == pytest.approx(2 / D) and found.frequency[-1] == 0.5
    np.testing.assert_allclose(found.peak, frequency[:, 0], atol=0.1 * found.resolution)
    np.testing.assert_allclose(found.amplitude.max(axis=1), amplitude[:, 0], rtol=0.03)


@pytest.mark.parametrize(
    ("parameters", "ratio"),
    [
        ({}, 1.0),
        ({"scaling": "linear", "factor": 2.0}, 1 / 2),
        ({"scaling": "linear", "factor": 4.0}, 1 / 4),
        ({"scaling": "ntk", "factor": 4.0}, 4.0 ** (-np.arange(5) / 15)),
        ({"theta": 50000.0}, 5.0 ** (-np.arange(5) / 16)),
    ],
)
def test_peaks_lie_at_ropes_frequencies_and_move_with_them(
    parameters: dict[str, Value], ratio: float | Array
) -> None:
    """PI divides every frequency by s; NTK pair k by s^(2k / (D - 2)), so the last by exactly s."""
    encoding = rope(**parameters)
    theta = encoding.frequencies(D)[0].numpy()
    found = spectrum(one_pair_per_head(encoding), PAIRS, theta)
    plain = 10000 ** (-np.arange(5) / 16) / (2 * np.pi)
    np.testing.assert_allclose(found.peak, plain * ratio, rtol=0, atol=0.1 * found.resolution)
    assert np.abs(frequencies.number(theta, 2 * np.pi * found.peak) - np.arange(5)).max() < 0.1


def test_waves_apart_by_the_resolution_are_two_peaks() -> None:
    turn, frequency = 2 * np.pi * (np.arange(D) - D / 2), 0.1
    for apart, peaks in ((0.25, 1), (2.0, 2)):
        other = frequency + apart * 2 / D
        a = spectrum((np.cos(frequency * turn) + np.cos(other * turn))[None], PAIRS).amplitude[0]
        top = (a[1:-1] > a[:-2]) & (a[1:-1] > a[2:]) & (a[1:-1] > 0.3)
        assert top.sum() == peaks


def test_the_peaks_of_noise_have_nothing_to_do_with_the_pairs() -> None:
    """They are a quarter of a step from the nearest pair on average."""
    theta = rope().frequencies(D)[0].numpy()
    walk = np.random.default_rng(0).standard_normal((300, D)).cumsum(axis=1)
    number = frequencies.number(theta, 2 * np.pi * spectrum(walk, PAIRS, theta).peak)
    white = np.exp(np.random.default_rng(1).uniform(*np.log(theta[[8, 0]]), 10_000))
    expected = np.abs(frequencies.number(theta, white) % 1 - 0.5).mean()
    assert expected == pytest.approx(0.25, abs=0.01)
    assert np.abs(number - number.round()).mean() == pytest.approx(0.25, abs=0.06)


def test_a_flat_curve_has_no_amplitude_and_a_short_one_no_spectrum() -> None:
    found = spectrum(np.zeros((1, D)), PAIRS)
    assert found.amplitude.max() == 0
    assert 2 / D <= found.peak[0] <= 0.5
    with pytest.raises(LengthError, match="at least 16 distances for a spectrum; got 15"):
        spectrum(np.zeros((1, 15)), PAIRS[:15])
