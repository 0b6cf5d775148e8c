"""KERPLE: both kernels by hand, where its numbers start, and where they may not go."""

from __future__ import annotations

import math

import pytest
import torch

from viz_core.encodings import Geometry, get
from viz_core.encodings.kerple import KERPLE, LEAST, kernel

GEOMETRY = Geometry(heads=64, head_dim=4, width=256, length=32)
R1, R2 = torch.tensor([1.0, 2.0, 0.5]), torch.tensor([1.0, 0.5, 2.0])
D = torch.tensor([0, 1, 9, 100])
LOG = [  # -r1 ln(1 + r2 d), as in the authors' ParallelKerpleLog, in decimals of the logarithms
    [0, -0.6931472, -2.3025851, -4.6151205],
    [0, -0.8109302, -3.4094962, -7.8636513],
    [0, -0.5493061, -1.4722195, -2.6516525],
]
POWER = [[0, -1, -9, -100], [0, -2, -6, -20], [0, -0.5, -40.5, -5000]]  # -r1 d^r2


def kerple(kind: str = "log") -> KERPLE:
    module = get("kerple").make(GEOMETRY, {"kernel": kind})
    assert isinstance(module, KERPLE)
    return module


@pytest.mark.parametrize(("kind", "expected"), [("log", LOG), ("power", POWER)])
def test_golden_kernels(kind: str, expected: list[list[float]]) -> None:
    torch.testing.assert_close(kernel(D, R1, R2, kind), torch.tensor(expected), rtol=1e-6, atol=0)


def test_a_power_of_1_is_alibi() -> None:
    geometry = Geometry(8, 4, 32, 32)
    alibi = get("alibi").make(geometry)
    line = kernel(torch.arange(50), alibi.slope, torch.ones(8), "power")
    torch.testing.assert_close(line, alibi.bias(torch.arange(50)))


@pytest.mark.parametrize(("kind", "most"), [("log", (2.0, 1.0)), ("power", (1.0, 2.0))])
def test_starts_evenly_between_0_and_the_authors_bounds(
    kind: str, most: tuple[float, float]
) -> None:
    torch.manual_seed(0)
    module = kerple(kind)
    for value, end in zip((module.r1.detach(), module.r2.detach()), most, strict=True):
        assert value.min() >= 0 and end * 0.85 < value.max() <= end
        assert abs(float(value.mean()) - end / 2) < end / 8


@pytest.mark.parametrize("kind", ["log", "power"])
def test_numbers_that_stepped_out_of_range_count_as_its_edge_and_find_the_way_back(
    kind: str,
) -> None:
    module = kerple(kind)
    module.r1.data[0], module.r2.data[0], module.r2.data[1] = -3.0, -1.0, 5.0
    r1, r2 = (value.detach() for value in module.allowed())
    steepest = 2.0 if kind == "power" else 5.0  # the logarithm has no upper bound
    assert (float(r1[0]), float(r2[0]), float(r2[1])) == pytest.approx((LEAST, LEAST, steepest))
    bias = module.bias(torch.arange(2000))
    assert (bias.diff(dim=1) < 0).all()  # every head falls, all the way
    bias.sum().backward()
    assert module.r1.grad is not None and (module.r1.grad[0], module.r2.grad[0]) != (0, 0)


def test_the_gradient_at_distance_0_is_a_number() -> None:
    """d^r2 = e^(r2 ln d), and ln 0 is none: the power's own rule is needed there."""
    module = kerple("power")
    module.bias(torch.tensor([0])).sum().backward()
    assert module.r2.grad is not None and torch.equal(module.r2.grad, torch.zeros(64))


def test_law_is_the_head_s_own_kernel_up_to_very_far() -> None:
    module, far = kerple(), torch.tensor([1 << 20])
    law = module.law(far, torch.randn(64, 4), torch.randn(64, 4), 0.5)
    r1, r2 = (value.tolist() for value in module.allowed())
    expected = [-a * math.log1p(b * (1 << 20)) for a, b in zip(r1, r2, strict=True)]
    torch.testing.assert_close(law[:, 0], torch.tensor(expected))
