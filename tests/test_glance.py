"""The numbers that a wall is sorted by, on attention whose numbers are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from viz_core import decay, glance, kernels
from viz_core.encodings import Geometry, get
from viz_core.subject import LayerTrace
from viz_core.trace import Trace
from viz_core.types import SINK, Curve


def made(encoding: str, n: int, q: torch.Tensor | None = None, k: torch.Tensor | None = None):
    """One layer of eight heads; without q and k the bias alone acts."""
    module = get(encoding).make(Geometry(8, 16, 128, 64)).requires_grad_(False)
    q = torch.zeros(8, n, 16) if q is None else q
    k = q if k is None else k
    strip = kernels.band(module, n, q)
    _, lse = kernels.blocked(q, k, k, strip, 0.25)
    return Trace.alike([LayerTrace(q, k, lse)], module, 0.25)


@pytest.mark.parametrize("cells", [1, kernels.BLOCK_CELLS])
def test_of_uniform_attention(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "BLOCK_CELLS", cells)
    n = 36  # fewer than QUERIES: all queries from SINK + 1 on
    found = glance.rows(made("nope", n), 0)
    middle = np.sort(np.arange(SINK + 1, n))[(n - SINK - 2) // 2]  # the lower median
    np.testing.assert_allclose(found["entropy"], 1, atol=1e-6)
    keys = sorted(SINK / np.arange(SINK + 2, n + 1))
    np.testing.assert_allclose(found["sink"], keys[(len(keys) - 1) // 2], rtol=1e-5)
    assert np.abs(found["reach"] - math.ceil(0.9 * (middle + 1))).max() <= 1  # 0.9 of float32


def test_reach_of_alibis_bias_doubles_from_head_to_head() -> None:
    found = glance.rows(made("alibi", 2048), 0)["reach"]
    queries = np.linspace(SINK + 1, 2047, glance.QUERIES).round()
    slope, keys = 2.0 ** -np.arange(1, 9), 1 + queries[(glance.QUERIES - 1) // 2]  # the median's
    nominal = -np.log(1 - 0.9 * (1 - np.exp(-slope * keys))) / slope
    np.testing.assert_allclose(found, np.ceil(nominal), atol=2)
    np.testing.assert_allclose(found[1:7] / found[:6], 2, rtol=0.15)


def test_of_a_head_that_looks_at_the_first_key_alone() -> None:
    n = 36  # fewer than QUERIES, as above
    q, k = torch.zeros(2, 8, n, 16)
    q[..., 0], k[:, 0, 0] = 40, 40
    found = glance.rows(made("nope", n, q, k), 0)
    np.testing.assert_allclose(found["sink"], 1, atol=1e-6)
    np.testing.assert_allclose(found["entropy"], 0, atol=1e-6)
    assert (found["reach"] == np.sort(np.arange(SINK + 2, n + 1))[(n - SINK - 2) // 2]).all()


def test_no_numbers_of_a_text_without_later_keys() -> None:
    assert all(np.isnan(v).all() for v in glance.rows(made("nope", SINK + 1), 0).values())


def test_ripple_is_the_swing_of_a_wave_about_any_trend() -> None:
    d = np.arange(600)
    wave = 0.3 * np.sin(2 * np.pi * d / 20)
    trend = -0.01 * d + 0.7 * np.log1p(d) - 3
    pairs = np.full(600, 1000)
    curve = Curve(np.stack((trend, trend + wave)), np.zeros((2, 600)), pairs, 1, 0)
    flat, swinging = glance.ripple(curve)
    assert flat < 1e-9
    assert swinging == pytest.approx(0.3 / 2**0.5, rel=0.01)


def test_ripple_of_a_trace() -> None:
    """A head of constant queries and keys under RoPE swings; under ALiBi it doesn't."""
    q = torch.ones(8, 512, 16)
    at = torch.arange(512)
    rope = get("rope").make(Geometry(8, 16, 128, 64))
    turned = rope.rotate(q, at, 512)
    swings = glance.ripple(decay.by_distance([decay.part(made("rope", 512, turned), 0)]))
    still = glance.ripple(decay.by_distance([decay.part(made("alibi", 512, q), 0)]))
    assert swings.min() > 0.2 and still.max() < 1e-3
