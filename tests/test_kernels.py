"""The two attention paths, the band of bias and mask by distance, and the blocks cut from it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from viz_core import kernels
from viz_core.encodings import Geometry, PositionEncoding, all_encodings

HEADS, DIM, KEYS = 4, 8, 37
block_sizes = pytest.mark.parametrize("cells", [1, 600, 1 << 19])


def encoding(name: str) -> PositionEncoding:
    torch.manual_seed(0)
    return all_encodings()[name].make(Geometry(HEADS, DIM, HEADS * DIM, 64))


def dense(name: str, count: int) -> Tensor:
    """Bias and mask as a full matrix [head or 1, query, key], float64."""
    distance = torch.arange(count)[:, None] - torch.arange(count)
    bias = encoding(name).bias(distance.clamp(min=0))
    full = torch.zeros(1, count, count) if bias is None else bias
    return full.detach().double().masked_fill(distance < 0, float("-inf"))


def qkv(queries: int, *batch: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    shapes = [(*batch, HEADS, n, DIM) for n in (queries, KEYS, KEYS)]
    q, k, v = (torch.randn(s, dtype=torch.float64, generator=generator) for s in shapes)
    return q, k, v


@pytest.mark.parametrize("name", all_encodings())
def test_a_band_holds_bias_by_falling_distance_then_the_future(name: str) -> None:
    strip = kernels.band(encoding(name), 5, torch.zeros((), dtype=torch.float64))
    assert strip.dtype == torch.float64 and strip.shape[-1] == 9
    assert torch.equal(strip[:, :5].flip(-1), dense(name, 5)[:, -1].flip(-1))
    assert bool((strip[:, 5:] == float("-inf")).all())


@pytest.mark.parametrize("cells_per_row", [0, 1, 7, 1 << 15, 1 << 30])
def test_blocks_of_rows_cover_each_row_once_and_stay_small(cells_per_row: int) -> None:
    blocks = list(kernels.row_blocks((3, 1001), cells_per_row))
    assert [i for a, b in blocks for i in range(a, b)] == list(range(3, 1001))
    for a, b in blocks:
        assert b - a <= 8 or (b - a) * cells_per_row <= kernels.BLOCK_CELLS


def test_no_rows_have_no_blocks() -> None:
    assert list(kernels.row_blocks((4, 4), 100)) == []


@block_sizes
@pytest.mark.parametrize("queries", [KEYS, 5, 1])
@pytest.mark.parametrize("name", ["alibi", "t5", "nope"])
def test_blocked_attention_equals_the_dense_softmax(
    name: str, queries: int, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer queries than keys the queries are the last positions."""
    monkeypatch.setattr(kernels, "BLOCK_CELLS", cells)
    q, k, v = qkv(queries, 2)
    out, lse = kernels.blocked(q, k, v, kernels.band(encoding(name), KEYS, q), 0.3)
    logits = 0.3 * q @ k.transpose(-1, -2) + dense(name, KEYS)[:, KEYS - queries :]
    torch.testing.assert_close(out, logits.softmax(-1) @ v, atol=1e-6, rtol=0)
    torch.testing.assert_close(lse, logits.logsumexp(-1), atol=1e-6, rtol=0)


@pytest.mark.parametrize("rows", [1, 7, 256])
@pytest.mark.parametrize("queries", [KEYS, 5, 1])
@pytest.mark.parametrize("name", ["alibi", "t5", "nope"])
def test_the_fused_path_equals_the_blocked_one(
    name: str, queries: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "FUSED_ROWS", rows)
    q, k, v = qkv(queries, 2)
    strip = kernels.band(encoding(name), KEYS, q).detach()
    out, lse = kernels.blocked(q, k, v, strip, 0.3)
    fused, sums = kernels.fused_with_lse(q, k, v, strip, 0.3)
    torch.testing.assert_close(kernels.fused(q, k, v, strip, 0.3), out, atol=1e-9, rtol=0)
    torch.testing.assert_close(fused, out, atol=1e-9, rtol=0)
    torch.testing.assert_close(sums, lse, atol=1e-9, rtol=0)


@pytest.mark.parametrize("rows", [1, 7, KEYS, 2048])
def test_without_a_band_the_fused_path_is_plainly_causal(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "CAUSAL_ROWS", rows)
    q, k, v = qkv(KEYS, 2)
    out, lse = kernels.blocked(q, k, v, kernels.band(encoding("nope"), KEYS, q), 0.3)
    fused, sums = kernels.fused_with_lse(q, k, v, None, 0.3)
    torch.testing.assert_close(kernels.fused(q, k, v, None, 0.3), out, atol=1e-9, rtol=0)
    torch.testing.assert_close(fused, out, atol=1e-9, rtol=0)
    torch.testing.assert_close(sums, lse, atol=1e-9, rtol=0)


@pytest.mark.parametrize("name", ["alibi", "nope", None])
@pytest.mark.parametrize("attend", [kernels.fused_with_lse, kernels.blocked])
def test_steps_add_up_to_the_pairs_and_can_cancel(
    attend: Callable[..., object], name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rows in ("FUSED_ROWS", "CAUSAL_ROWS"):
        monkeypatch.setattr(kernels, rows, 5)
    monkeypatch.setattr(kernels, "BLOCK_CELLS", 1)
    q, k, v = qkv(KEYS, 2)
    if name is None and attend is kernels.blocked:
        pytest.skip("the plain path has no way without a band")
    strip = None if name is None else kernels.band(encoding(name), KEYS, q).detach()
    steps = list[int]()
    attend(q, k, v, strip, 0.3, steps.append)
    assert sum(steps) == KEYS * (KEYS + 1) // 2 and len(steps) > 2

    def stop(pairs: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        attend(q, k, v, strip, 0.3, stop)


@pytest.mark.parametrize("masked", [False, True])
def test_the_gpu_kernel_takes_these_arguments_and_gives_these_shapes(masked: bool) -> None:
    """On torch's meta device, which has shapes but no numbers: it needs no GPU."""
    q = torch.empty(1, HEADS, 37, 32, device="meta")
    k = torch.empty(1, HEADS, 51, 32, device="meta")
    mask = torch.empty(1, 1, 37, 51, device="meta") if masked else None
    out, lse = kernels._on_cuda(q, k, k, mask, False, 0.3)
    assert out.shape == q.shape and lse.shape == (1, HEADS, 37)


NO_GPU = "needs an NVIDIA GPU: torch.cuda is not available here"


@pytest.mark.skipif(not torch.cuda.is_available(), reason=NO_GPU)
@pytest.mark.parametrize("name", ["alibi", "t5", "nope", None])
@pytest.mark.parametrize("keys", [37, 600, 2049])
def test_on_a_gpu_the_fused_path_equals_the_plain_one_in_float64(
    name: str | None, keys: int
) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, HEADS, keys, 32, generator=generator, dtype=torch.float64)
    strip = kernels.band(encoding(name or "nope"), keys, q).detach()
    out, lse = kernels.blocked(q, k, v, strip, 0.3)
    there = [t.float().cuda() for t in (q, k, v)]
    band = None if name is None else strip.float().cuda()
    fused, sums = kernels.fused_with_lse(*there, band, 0.3)
    torch.testing.assert_close(fused.cpu().double(), out, atol=1e-5, rtol=0)
    torch.testing.assert_close(sums.cpu().double(), lse, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["alibi", "t5"])
def test_masks_of_the_fused_path_have_no_size_of_their_own(name: str) -> None:
    q, k, v = qkv(KEYS, 2)
    strip = kernels.band(encoding(name), KEYS, q).detach()
    for *_, mask in kernels._from_below(q, k, v, strip):
        assert mask.untyped_storage().data_ptr() == strip.untyped_storage().data_ptr()


def test_a_band_that_is_trained_gets_its_gradient() -> None:
    q, k, v = qkv(KEYS, 2)
    module = encoding("t5")
    grads = []

    def plain(q: Tensor, k: Tensor, v: Tensor, strip: Tensor, scale: float) -> Tensor:
        logits = scale * q @ k.transpose(-1, -2) + kernels.cut(strip, (0, KEYS), (0, KEYS))
        return logits.softmax(-1) @ v

    for attend in (kernels.fused, plain):
        module.zero_grad()
        attend(q, k, v, kernels.band(module, KEYS, q), 0.3).square().sum().backward()
        grads.append(module.table.weight.grad.clone())  # type: ignore[union-attr, operator]
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("name", ["rope", "alibi", "t5"])
def test_under_autocast_attention_is_float32(name: str) -> None:
    """Biases of hundreds of nats have no digits left for a token in bfloat16."""
    made = encoding(name)
    q, k, v = torch.randn(3, 2, HEADS, 300, DIM)
    biased = made.bias(torch.arange(1)) is not None
    strip = kernels.band(made, 300, q).detach() if biased else None
    plain = kernels.fused(q, k, v, strip, 0.3)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(kernels.fused(q, k, v, strip, 0.3), plain)
        half = kernels.fused(q.bfloat16(), k.bfloat16(), v.bfloat16(), strip, 0.3)
    assert half.dtype == torch.float32


def test_logits_of_any_size_stay_finite() -> None:
    q, k, v = (100 * t.float() for t in qkv(KEYS))
    out, lse = kernels.blocked(q, k, v, kernels.band(encoding("alibi"), KEYS, q), 1.0)
    assert out.isfinite().all() and lse.isfinite().all()
