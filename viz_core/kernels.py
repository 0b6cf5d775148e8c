"""Causal attention, two ways: the library's fused kernel, and plain blocks as the reference.

Both take the encoding's additive bias as what it is, a vector by distance (a Toeplitz band), and
never make anything of size N x N, except in training through a bias that is itself trained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core.encodings import PositionEncoding

BLOCK_CELLS = 1 << 19  # logits in flight, 2 MB in float32: past the cache, blocks get much slower
GPU_CELLS = 1 << 25  # the same on a GPU, where starting a kernel takes as long as a million cells
FUSED_ROWS = 256  # queries in one call of the fused kernel: the triangle above them is wasted
CAUSAL_ROWS = 2048  # the same without a band, where nothing is wasted but a step should be short

Step = Callable[[int], None]  # told how many pairs of tokens were just done; may raise, to cancel


def ignore(pairs: int) -> None:
    """A Step for work that no one watches."""


def pairs(queries: int, keys: int) -> int:
    """How many pairs there are of the last `queries` of `keys` positions and a key not after."""
    before = keys - queries
    return (keys * (keys + 1) - before * (before + 1)) // 2


def band(encoding: PositionEncoding, count: int, like: Tensor) -> Tensor:
    """Bias and causal mask by distance: [head or 1, 2 count - 1], dtype of `like`, nats.

    Entry t belongs to distance count - 1 - t, so distances run down to 0 and on into the future,
    where the value is -inf.
    """
    distance = torch.arange(count - 1, -1, -1, device=like.device)
    bias = encoding.bias(distance)
    if bias is None:
        bias = torch.zeros(1, count, device=like.device)
    return F.pad(bias.to(like.dtype), (0, count - 1), value=float("-inf"))


def cut(strip: Tensor, rows: tuple[int, int], columns: tuple[int, int]) -> Tensor:
    """The block of a `band` at queries rows[0]:rows[1], keys columns[0]:columns[1].

    Returns [head or 1, query, key]; -inf where the key lies after the query.
    """
    count = (strip.shape[-1] + 1) // 2
    (a, b), (c, d) = rows, columns
    windows = strip.unfold(-1, d - c, 1)  # windows[:, t] = strip[:, t : t + keys], a view
    start = count - b + c  # where the last query's keys begin; earlier queries begin later
    return windows[:, start : start + (b - a)].flip(1)


def row_blocks(rows: tuple[int, int], cells_per_row: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows that cover `rows`, each with about BLOCK_CELLS cells and at least 8 rows."""
    step = max(8, BLOCK_CELLS // max(cells_per_row, 1))
    for a in range(rows[0], rows[1], step):
        yield a, min(a + step, rows[1])


def fused(q: Tensor, k: Tensor, v: Tensor, strip: Tensor | None, scale: float) -> Tensor:
    """torch's fused attention [..., head, query, channel]; `strip` from `band`, None without bias.

    Arguments as for `blocked`; without a strip, queries and keys must be equally many. A band
    that needs gradients is cut whole, N x N.
    """
    if strip is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)
    if strip.requires_grad and torch.is_grad_enabled():
        keys = k.shape[-2]
        mask = cut(strip, (keys - q.shape[-2], keys), (0, keys))[None]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    parts = [
        F.scaled_dot_product_attention(*block, scale=scale).flip(-2)
        for block in _from_below(q, k, v, strip)
    ]
    return torch.cat(parts, dim=-2)


def fused_with_lse(
    q: Tensor, k: Tensor, v: Tensor, strip: Tensor | None, scale: float, step: Step = ignore
) -> tuple[Tensor, Tensor]:
    """`fused` and the log-normaliser of each row, lse [batch, head, query]; four dimensions only.

    From torch's kernels for CPU and CUDA (there not in float64), which have both; elsewhere
    `blocked` does the work.
    """
    kernel = _KERNELS.get(q.device.type)
    if kernel is None or (kernel is _on_cuda and q.dtype == torch.float64):
        return blocked(q, k, v, _unbiased(k) if strip is None else strip, scale, step)
    outs, lses = [], []
    if strip is None:
        for a in range(0, q.shape[2], CAUSAL_ROWS):
            b = min(a + CAUSAL_ROWS, q.shape[2])
            out, lse = kernel(q[:, :, a:b], k[:, :, a:b], v[:, :, a:b], None, True, scale)
            if a:  # and the keys before, which all of these queries see
                old, before = kernel(q[:, :, a:b], k[:, :, :a], v[:, :, :a], None, False, scale)
                total = torch.logaddexp(lse, before)
                out = out * (lse - total).exp()[..., None]
                out += old * (before - total).exp()[..., None]
                lse = total
            outs.append(out)
            lses.append(lse)
            step(pairs(b - a, b))
    else:
        for rows, keys, values, mask in _from_below(q, k, v, strip):
            out, lse = kernel(rows, keys, values, mask, False, scale)
            outs.append(out.flip(2))
            lses.append(lse.flip(2))
            step(pairs(*mask.shape[-2:]))
    return torch.cat(outs, dim=2), torch.cat(lses, dim=2)


def _on_cpu(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, scale: float
) -> tuple[Tensor, Tensor]:
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    out, lse = kernel(q, k, v, 0.0, causal, attn_mask=mask, scale=scale)
    return out, lse


def _on_cuda(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, scale: float
) -> tuple[Tensor, Tensor]:
    """The memory-efficient kernel: flash attention there takes neither float32 nor a bias."""
    if mask is not None:  # its rows have to begin at aligned addresses
        keys = mask.shape[-1]
        mask = F.pad(mask, (0, -keys % 8))[..., :keys].expand(*q.shape[:3], keys)
    kernel = torch.ops.aten._scaled_dot_product_efficient_attention
    out, lse, *_ = kernel(q, k, v, mask, True, 0.0, causal, scale=scale)
    return out, lse[..., : q.shape[2]]  # padded to whole warps


_KERNELS = {"cpu": _on_cpu, "cuda": _on_cuda}


def _from_below(
    q: Tensor, k: Tensor, v: Tensor, strip: Tensor
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """(queries with the last one first, the keys and values they see, mask) of blocks of rows.

    In that order each row of a Toeplitz matrix begins one entry later than the row above, so the
    mask is a view of the strip, of no size of its own; read from the cache, it costs no time
    either. Four dimensions: with three, torch's CPU kernel falls back to one twice as slow.
    """
    queries, keys = q.shape[-2], k.shape[-2]
    for a in range(0, queries, FUSED_ROWS):
        b = min(a + FUSED_ROWS, queries)
        seen = keys - queries + b
        mask = strip.unfold(-1, seen, 1)[None, :, keys - seen : keys - seen + b - a]
        if q.device.type != "cpu":  # other kernels want rows that begin at aligned addresses
            mask = mask.contiguous()
        yield q[..., a:b, :].flip(-2), k[..., :seen, :], v[..., :seen, :], mask


def _unbiased(k: Tensor) -> Tensor:
    """The `band` of an encoding without a bias, for the keys k [..., key, channel]."""
    keys = k.shape[-2]
    return F.pad(k.new_zeros(1, keys), (0, keys - 1), value=float("-inf"))


def blocked(
    q: Tensor, k: Tensor, v: Tensor, strip: Tensor, scale: float, step: Step = ignore
) -> tuple[Tensor, Tensor]:
    """Attention in blocks of rows: (output like q, lse [..., head, query]); the reference path.

    q [..., head, query, channel]; k, v [..., head, key, channel]; queries are the last of the
    keys' positions. `strip` from `band` with count = number of keys. lse is the natural log of
    the sum over keys of exp(logit). Memory grows with the number of keys, not with its square.
    """
    queries, keys = q.shape[-2], k.shape[-2]
    offset = keys - queries
    out, lse = torch.empty_like(q), q.new_empty(q.shape[:-1])
    heads = q.shape[:-2].numel()
    for a, b in row_blocks((0, queries), heads * keys):
        seen = offset + b  # later keys are masked for all rows of the block
        logits = (scale * q[..., a:b, :]) @ k[..., :seen, :].transpose(-1, -2)
        logits += cut(strip, (offset + a, offset + b), (0, seen))
        top = logits.amax(dim=-1, keepdim=True)  # finite: every query sees itself
        weights = logits.sub_(top).exp_()
        total = weights.sum(dim=-1, keepdim=True)
        lse[..., a:b] = (top + total.log()).squeeze(-1)
        out[..., a:b, :] = weights @ v[..., :seen, :] / total
        step(pairs(b - a, seen))
    return out, lse
