"""xPos: golden decays, the score by hand, its two factors' range, and curves out to its end."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from viz_core import decay, kernels
from viz_core.encodings import Geometry, get
from viz_core.encodings.xpos import ROOM, XPos, shrinking
from viz_core.subject import LayerTrace
from viz_core.trace import Trace

GEOMETRY = Geometry(heads=2, head_dim=8, width=16, length=64)


def xpos(**values: float) -> XPos:
    module = get("xpos").make(GEOMETRY, values)
    assert isinstance(module, XPos)
    return module


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def scores(module: XPos, q: torch.Tensor, k: torch.Tensor, start: int = 0) -> torch.Tensor:
    """[head, query, key] for q, k [head, position, channel] from position `start` on."""
    count = q.shape[1]
    at = torch.arange(start, start + count)
    query, key = module.rotate(q, at, start + count), module.rotate_key(k, at, start + count)
    return query @ key.transpose(1, 2)


def test_golden_shrinking_and_half_lives() -> None:
    zeta = shrinking(8)
    golden = torch.tensor([0.285714, 0.464286, 0.642857, 0.821429], dtype=torch.float64)
    torch.testing.assert_close(zeta, golden, atol=1e-6, rtol=0)
    lives = -512 * np.log(2) / zeta.log()
    assert lives.round().tolist() == [283, 463, 803, 1804]


def test_a_score_is_rope_s_with_each_pair_s_part_shrunk_by_distance() -> None:
    q, k, theta = randn(2, 8), randn(2, 8), 10000 ** (-torch.arange(4).double() / 4)
    found = scores(xpos(span=40.0), q[:, None].expand(2, 30, 8), k[:, None].expand(2, 30, 8))
    zeta = [0.4 / 1.4, 0.65 / 1.4, 0.9 / 1.4, 1.15 / 1.4]  # (2k / 8 + 0.4) / 1.4
    for i, j in ((0, 0), (29, 0), (17, 16), (20, 5)):
        for h in range(2):
            a, b = torch.complex(q[h, :4], q[h, 4:]), torch.complex(k[h, :4], k[h, 4:])
            expected = sum(
                (a[p] * b[p].conj() * torch.exp(1j * (i - j) * theta[p])).real
                * zeta[p] ** ((i - j) / 40)
                for p in range(4)
            )
            torch.testing.assert_close(found[h, i, j], expected)


def test_law_is_what_constant_vectors_score() -> None:
    q, k, module = randn(2, 8), randn(2, 8), xpos()
    first = scores(module, q[:, None].expand(2, 600, 8), k[:, None].expand(2, 600, 8))[:, :, 0]
    law = module.law(torch.arange(600), q, k, 0.25)
    torch.testing.assert_close(law.double(), 0.25 * first, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("start", [0, 5000, 9_300])
def test_scores_know_distance_alone_in_float32_up_to_the_last_position(start: int) -> None:
    torch.manual_seed(0)
    q, k, module = torch.randn(2, 50, 8), torch.randn(2, 50, 8), xpos()
    near, moved = scores(module, q.double(), k.double()), scores(module, q, k, start)
    torch.testing.assert_close(moved.double().tril(), near.tril(), atol=1e-4, rtol=1e-4)


def test_queries_and_keys_come_back_exactly_from_the_last_position() -> None:
    module = xpos()
    x, at = torch.randn(2, 3, 8), torch.arange(module.longest - 3, module.longest)
    for there, back in (
        (module.rotate, module.unrotate),
        (module.rotate_key, module.unrotate_key),
    ):
        turned = there(x, at, module.longest)
        torch.testing.assert_close(back(turned, at, module.longest), x, atol=1e-5, rtol=1e-5)
    assert module.rotate(x, at, 9).norm() < module.rotate_key(x, at, 9).norm() / 1e3


def test_the_end_grows_with_the_span_and_is_where_sizes_are_too_far_apart() -> None:
    assert xpos().longest == 9_410  # 18 spans of 512
    assert xpos(span=2048.0).longest == pytest.approx(4 * 9_410, abs=4)
    at = torch.tensor([0, xpos().longest])
    size = xpos().rotate(torch.ones(1, 2, 8), at, 1).norm(dim=-1)[0]
    fastest = float(shrinking(8)[0]) ** (xpos().longest / 512)
    assert fastest == pytest.approx(1 / ROOM, rel=1e-2) and size[1] < size[0]


def test_curves_are_right_out_to_the_end() -> None:
    """Sums along diagonals mix queries and keys of very different sizes: digits must be left."""
    torch.manual_seed(0)
    module, n = xpos(span=64.0), 1176  # its end
    q, k = torch.randn(2, n, 8), torch.randn(2, n, 8)
    at = torch.arange(n)
    turned = module.rotate(q, at, n), module.rotate_key(k, at, n)
    _, lse = kernels.blocked(*turned, k, kernels.band(module, n, q), 8**-0.5)
    trace = Trace.alike([LayerTrace(*turned, lse)], module, 8**-0.5)
    part = decay.part(trace, 0)
    late = 8**-0.5 * scores(module, q.double(), k.double())[:, 4:, 4:]  # without the first keys
    for d in (0, 1, 300, 900, n - 6):
        expected = late.diagonal(-d, dim1=1, dim2=2).mean(-1).numpy()
        np.testing.assert_allclose(part.logit[:, d], expected, atol=2e-5)
