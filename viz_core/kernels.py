"""Causal attention, two ways: the library's fused kernel, and plain blocks that also give `lse`.

Both take the encoding's additive bias as what it is, a vector by distance (a Toeplitz band), and
the plain path cuts it per block: nothing of size N x N is ever made there.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core.encodings import PositionEncoding

BLOCK_CELLS = 1 << 19  # logits in flight, 2 MB in float32: past the cache, blocks get much slower


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


def fused(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """torch's fused attention [..., head, query, channel]; `mask` holds bias and causality.

    With no mask the plain causal kernel is used; queries and keys must then be equally many.
    """
    return F.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, is_causal=mask is None, scale=scale
    )


def blocked(q: Tensor, k: Tensor, v: Tensor, strip: Tensor, scale: float) -> tuple[Tensor, Tensor]:
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
    return out, lse
