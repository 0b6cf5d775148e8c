"""Attention, two ways: the library's fused kernel, and plain blocks as the reference.

Both take bias and mask as what they are, a vector by distance (a Toeplitz band), and never make
anything of size N x N, except in training through a bias that is itself trained.
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


def seen(
    first: int, end: int, keys: int, window: int | None = None, causal: bool = True
) -> tuple[int, int]:
    """The range of keys that queries first:end of `keys` positions may look at."""
    if window is None:
        return 0, end if causal else keys
    return max(0, first - window + 1), end if causal else min(keys, end + window - 1)


def band(
    encoding: PositionEncoding,
    count: int,
    like: Tensor,
    window: int | None = None,
    causal: bool = True,
) -> Tensor:
    """Bias and mask by distance: [head or 1, 2 count - 1], dtype of `like`, nats.

    Entry t belongs to distance count - 1 - t, so distances run down to 0 and on into the future.
    The value is -inf at distances from `window` on and, with `causal`, in the future.
    """
    distance = torch.arange(count - 1, -1 if causal else -count, -1, device=like.device)
    bias = encoding.bias(distance)
    if bias is None:
        bias = torch.zeros(1, len(distance), device=like.device)
    bias = bias.to(like.dtype)
    if window is not None:
        bias = bias.masked_fill(distance.abs() >= window, float("-inf"))
    return F.pad(bias, (0, 2 * count - 1 - len(distance)), value=float("-inf"))


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
    that needs gradients is cut whole, N x N. Under autocast too, attention is float32: biases
    rounded to half as many digits would set ALiBi and T5 apart from the others.
    """
    if torch.is_autocast_enabled(q.device.type):
        with torch.autocast(q.device.type, enabled=False):
            return fused(q.float(), k.float(), v.float(), strip, scale)
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
    q: Tensor,
    k: Tensor,
    v: Tensor,
    strip: Tensor | None,
    scale: float,
    step: Step = ignore,
    window: int | None = None,
    causal: bool = True,
    cap: float | None = None,
) -> tuple[Tensor, Tensor]:
    """`fused` and the log-normaliser of each row, lse [batch, head, query]; four dimensions only.

    From torch's kernels for CPU and CUDA (there not in float64), which have both; elsewhere, and
    under a soft-cap, `blocked` does the work. `window` and `causal` say what of the `strip` is
    -inf anyway: keys there are not looked at.
    """
    kernel = _KERNELS.get(q.device.type)
    wide = kernel is _on_cuda and q.dtype == torch.float64
    if kernel is None or wide or cap is not None or v.shape != k.shape:
        strip = _unbiased(k) if strip is None else strip
        return blocked(q, k, v, strip, scale, step, window, causal, cap)
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
        for rows, keys, values, mask in _from_below(q, k, v, strip, window, causal):
            out, lse = kernel(rows, keys, values, mask, False, scale)
            outs.append(out.flip(2))
            lses.append(lse.flip(2))
            step(_seen(mask.shape[-2], mask.shape[-1], window, causal))
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
    q: Tensor,
    k: Tensor,
    v: Tensor,
    strip: Tensor,
    window: int | None = None,
    causal: bool = True,
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """(queries with the last one first, the keys and values they see, mask) of blocks of rows.

    In that order each row of a Toeplitz matrix begins one entry later than the row above, so the
    mask is a view of the strip, of no size of its own; read from the cache, it costs no time
    either. Four dimensions: with three, torch's CPU kernel falls back to one twice as slow.
    """
    queries, keys = q.shape[-2], k.shape[-2]
    for a in range(0, queries, FUSED_ROWS):
        b = min(a + FUSED_ROWS, queries)
        c, d = seen(keys - queries + a, keys - queries + b, keys, window, causal)
        start = queries - b + c  # where the last query's keys begin
        mask = strip.unfold(-1, d - c, 1)[None, :, start : start + b - a]
        if q.device.type != "cpu":  # other kernels want rows that begin at aligned addresses
            mask = mask.contiguous()
        yield q[..., a:b, :].flip(-2), k[..., c:d, :], v[..., c:d, :], mask


def _unbiased(k: Tensor) -> Tensor:
    """The `band` of an encoding without a bias, for the keys k [..., key, channel]."""
    keys = k.shape[-2]
    return F.pad(k.new_zeros(1, keys), (0, keys - 1), value=float("-inf"))


def blocked(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    strip: Tensor,
    scale: float,
    step: Step = ignore,
    window: int | None = None,
    causal: bool = True,
    cap: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention in blocks of rows: (output [..., query, channel of v], lse [..., head, query]).

    The reference path. q [..., head, query, channel]; k, v [..., head, key, channel]; queries are
    the last of the keys' positions. `strip` from `band` with count = number of keys, and with
    `window` and `causal` as there. `cap` c makes logits c tanh(logit / c), before the strip is
    added (Gemma 2). lse is the natural log of the sum over keys of exp(logit). Memory grows with
    the number of keys, not with its square.
    """
    queries, keys = q.shape[-2], k.shape[-2]
    offset = keys - queries
    out, lse = q.new_empty(*q.shape[:-1], v.shape[-1]), q.new_empty(q.shape[:-1])
    heads = q.shape[:-2].numel()
    for a, b in row_blocks((0, queries), heads * keys):
        c, d = seen(offset + a, offset + b, keys, window, causal)  # others are masked for all rows
        logits = (scale * q[..., a:b, :]) @ k[..., c:d, :].transpose(-1, -2)
        if cap is not None:
            logits = logits.div_(cap).tanh_().mul_(cap)
        logits += cut(strip, (offset + a, offset + b), (c, d))
        top = logits.amax(dim=-1, keepdim=True)  # finite: every query sees itself
        weights = logits.sub_(top).exp_()
        total = weights.sum(dim=-1, keepdim=True)
        lse[..., a:b] = (top + total.log()).squeeze(-1)
        out[..., a:b, :] = weights @ v[..., c:d, :] / total
        step(_seen(b - a, d - c, window, causal))
    return out, lse


def _seen(queries: int, keys: int, window: int | None, causal: bool) -> int:
    """About how many pairs a block held, for a `Step`: exactly, where all is causal."""
    return pairs(queries, keys) if causal and window is None else queries * keys
