"""RoPE's own kernels have ripples at its frequencies; noise, lines and other frequencies don't."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import torch

from viz_core.encodings import Geometry, Value
from viz_core.encodings.alibi import slopes
from viz_core.encodings.rope import RoPE
from viz_core.errors import LengthError
from viz_core.signatures import frequencies, ripple, trend

Array = npt.NDArray[np.float64]
D, HEADS = 500, 8
PAIRS = np.arange(D + 8, 8, -1) * 12


def rope(**parameters: Value) -> RoPE:
    return RoPE(Geometry(HEADS, 32, 32 * HEADS, 512), **parameters)  # type: ignore[arg-type]


def theta(encoding: RoPE) -> Array:
    return encoding.frequencies(D)[0].numpy()


def kernel(encoding: RoPE, distances: int = D, seed: int = 0) -> Array:
    """The scores [head, distance] of constant random queries and keys."""
    q, k = torch.randn(2, HEADS, 32, generator=torch.Generator().manual_seed(seed))
    return encoding.law(torch.arange(distances), q, k, 32**-0.5).double().numpy()


SCALED: dict[str, dict[str, Value]] = {
    "none": {},
    "PI": {"scaling": "linear", "factor": 1.5},
    "NTK": {"scaling": "ntk", "factor": 4.0},
    "YaRN": {"scaling": "yarn", "factor": 4.0},
    "theta": {"theta": 2000.0},
}


@pytest.mark.parametrize("name", SCALED)
def test_a_kernel_is_its_own_waves(name: str) -> None:
    encoding = rope(**SCALED[name])
    found = ripple.fit(kernel(encoding), PAIRS, theta(encoding))
    assert found.explained.min() > 0.97
    assert found.expected.max() < 0.8
    np.testing.assert_allclose(found.p, 1 / 200)
    np.testing.assert_array_equal(found.tested, frequencies.fast(theta(encoding), D))


def test_a_kernel_is_seen_through_content(noise: Callable[..., Array]) -> None:
    content = 0.15 * noise(0.9, HEADS, D, 3) - np.log1p(np.arange(D))
    found = ripple.fit(kernel(rope()) + content, PAIRS, theta(rope()))
    assert found.explained.min() > 0.1
    assert (found.p <= 0.05).all()
    assert (found.explained > found.expected).all()


@pytest.mark.parametrize("factor", [1.333, 2.5])
def test_interpolation_moves_ripples_away_from_the_plain_frequencies(factor: float) -> None:
    """By half a step and by a step and a half: as far from the pairs as can be."""
    moved = rope(scaling="linear", factor=factor)
    found = ripple.fit(kernel(moved), PAIRS, theta(rope()))
    assert found.explained.max() < 0.6
    assert found.p.min() > 0.05
    assert ripple.fit(kernel(moved), PAIRS, theta(moved)).p.max() < 0.01


@pytest.mark.parametrize("memory", [0.0, 0.9, 1.0])
def test_noise_ripples_as_often_as_chance_has_it(
    memory: float, noise: Callable[..., Array], rejected: Callable[[Array], int]
) -> None:
    heads = noise(memory, 200, D, 5).reshape(4, 50, D)  # each with random sets of its own
    found = [ripple.fit(h, PAIRS, theta(rope()), seed=s) for s, h in enumerate(heads)]
    assert 3 <= rejected(np.concatenate([f.p for f in found])) <= 19
    gap = np.concatenate([f.explained - f.expected for f in found])
    assert abs(gap.mean()) < 0.02
    if memory == 0:
        assert abs(np.concatenate([f.explained for f in found]).mean()) < 0.01  # adjusted


@pytest.mark.parametrize("heads", [8, 12])
def test_lines_in_float32_have_no_ripples(heads: int) -> None:
    line = (-slopes(heads).float()[:, None] * torch.arange(D)).double().numpy()
    found = ripple.fit(np.vstack((line, np.zeros((1, D)))), PAIRS, theta(rope()))
    np.testing.assert_array_equal(found.explained, 0)
    np.testing.assert_array_equal(found.expected, 0)
    np.testing.assert_array_equal(found.p, 1)


def test_the_share_is_that_of_plain_least_squares() -> None:
    curve = kernel(rope()) + np.random.default_rng(0).standard_normal((HEADS, D))
    known = theta(rope())
    fast = frequencies.fast(known, D)
    weight = np.sqrt(PAIRS)[:, None]
    smooth = trend.basis(PAIRS, known[~fast])
    phase = np.arange(D)[:, None] * known[fast]
    full = np.hstack((smooth, weight * np.cos(phase), weight * np.sin(phase)))
    y = weight * curve.T
    left = [
        ((y - x @ np.linalg.lstsq(x, y, rcond=None)[0]) ** 2).sum(axis=0) / (D - x.shape[1])
        for x in (smooth, full)
    ]
    found = ripple.fit(curve, PAIRS, known)
    np.testing.assert_allclose(found.explained, 1 - left[1] / left[0], rtol=1e-9)


def test_pairs_too_close_to_tell_apart_do_no_harm() -> None:
    """128 channels: neighbours differ by 15 %, and slow ones look the same within the curve."""
    encoding = RoPE(Geometry(1, 128, 128, 512))
    q, k = torch.randn(2, 1, 128, generator=torch.Generator().manual_seed(1))
    curve = encoding.law(torch.arange(D), q, k, 0.1).double().numpy()
    found = ripple.fit(curve, PAIRS, encoding.frequencies(D)[0].numpy(), draws=39)
    assert found.explained[0] > 0.99
    assert found.p[0] == 1 / 40


def test_curves_too_short_for_ripples_are_refused() -> None:
    with pytest.raises(
        LengthError, match=r"turns twice; it has 12 distances and .* period of 6\.3"
    ):
        ripple.fit(np.zeros((1, 12)), PAIRS[:12], theta(rope()))
    steep = 3 ** -np.arange(0.0, 2, 0.02)
    with pytest.raises(LengthError, match=r"more distances than the .* waves"):
        ripple.fit(np.zeros((1, 20)), PAIRS[:20], steep)
