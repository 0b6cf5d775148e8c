"""Sandwich: golden biases of both ways to count its waves, and the vectors it comes from."""

from __future__ import annotations

import math

import pytest
import torch

from viz_core.encodings import Geometry, get
from viz_core.encodings.sandwich import gram
from viz_core.encodings.sinusoidal import sinusoid

D = torch.tensor([1, 16, 64, 256, 1024])
GOLDEN = {  # the last of H heads, d' = 128, the first wave k = 0 or 1
    0: [-0.23829, -3.03729, -4.18499, -5.43440, -6.36447],
    1: [-0.18083, -2.79259, -4.10898, -5.30446, -6.36354],
}


@pytest.mark.parametrize("heads", [1, 8, 12])
@pytest.mark.parametrize("first", GOLDEN)
def test_golden_biases(first: int, heads: int) -> None:
    bias = get("sandwich").make(Geometry(heads, 4, 4 * heads, 32), {"first": first}).bias(D)
    torch.testing.assert_close(bias[-1], torch.tensor(GOLDEN[first]), atol=1e-5, rtol=0)
    for h in range(heads):  # all heads have one curve, less and less of it
        torch.testing.assert_close(bias[h], bias[-1] * heads / (h + 1))


def test_is_the_product_of_sinusoidal_vectors_less_their_length() -> None:
    table = sinusoid(torch.arange(300), 128)
    expected = table @ table[0] - 64
    torch.testing.assert_close(gram(torch.arange(300)), expected)


def test_starts_at_0_and_stays_below() -> None:
    module = get("sandwich").make(Geometry(8, 4, 32, 32))
    bias = module.bias(torch.arange(20_000))
    assert (bias[:, 0] == 0).all() and (bias[:, 1:] < 0).all()
    assert not (bias[0].diff() < 0).all()  # it ripples on its way down
    assert not list(module.parameters())


def test_stays_exact_far_out() -> None:
    """In float32 the fastest cosine would be off by hundredths there."""
    far = (1 << 24) + 1
    exact = math.cos(far) - 1
    assert float(gram(torch.tensor([far]), waves=1)) == pytest.approx(exact, abs=1e-9)
    assert abs(float(torch.cos(torch.tensor(float(far)))) - 1 - exact) > 0.01
