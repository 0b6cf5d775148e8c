"""Sums of logits along diagonals and rows, which is all that a row-fixed-effects fit needs.

Both come without the N x N map: a cross-correlation (FFT) and prefix sums of the keys.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core.decay.pairs import near
from viz_core.errors import LengthError
from viz_core.trace import Trace
from viz_core.words import say


def along(trace: Trace, layer: int, sink: int) -> tuple[Tensor, Tensor]:
    """Sums of logits over keys from `sink` on: along diagonals [head, distance], along rows.

    Distances that have pairs, and N - sink rows, float64. Row constants (lse) are left out: the fit
    removes them.
    """
    how = trace.scores[layer]
    if how.cap is not None:
        return _bent(trace, layer, sink)
    q, late, bias = _late(trace, layer, sink)
    row = _along_rows(q, late, bias, how.scale, sink)
    n, size = trace.length, bias.shape[-1]
    spectrum = torch.zeros(len(q), n + 1, dtype=torch.complex128, device=q.device)
    for h in range(len(q)):  # one head at a time: the transforms are the largest arrays here
        turned = torch.fft.rfft(q[h], 2 * n, dim=0) * torch.fft.rfft(late[h], 2 * n, dim=0).conj()
        spectrum[h] = turned.sum(-1)
    diagonal = torch.fft.irfft(spectrum, 2 * n)[:, :size]
    pairs = n - sink - torch.arange(size, device=q.device)
    return how.scale * diagonal + pairs * bias, row


def rows(trace: Trace, layer: int, sink: int) -> Tensor:
    """The sums along rows of `along` alone, which take no transform."""
    how = trace.scores[layer]
    if how.cap is not None:
        return _bent(trace, layer, sink)[1]
    return _along_rows(*_late(trace, layer, sink), how.scale, sink)


def _bent(trace: Trace, layer: int, sink: int) -> tuple[Tensor, Tensor]:
    """`along` under a soft-cap, which no sum of products knows of: pair by pair."""
    found = near(trace, layer, trace.length, sink)
    lse = trace.layers[layer].lse[:, sink:].cpu().double()
    size = found.diagonal.shape[1]
    keys = torch.arange(1, lse.shape[1] + 1).clamp(max=size)
    logs = lse.flip(1).cumsum(1).flip(1)[:, :size]  # of the queries that each distance has
    return torch.from_numpy(found.diagonal) + logs, torch.from_numpy(found.row) + lse * keys


def _along_rows(q: Tensor, late: Tensor, bias: Tensor, scale: float, sink: int) -> Tensor:
    """The sum of each row's logits over the keys that `_late` left: [head, m], m = query - sink."""
    later, size = q.shape[1] - sink, bias.shape[-1]
    keys = late.cumsum(dim=1)
    keys[:, size:] -= keys[:, :-size].clone()
    biases = F.pad(bias.cumsum(dim=-1), (0, later - size), mode="replicate")
    return scale * (q * keys).sum(-1)[:, sink:] + biases


def _late(trace: Trace, layer: int, sink: int) -> tuple[Tensor, Tensor, Tensor]:
    """q, k with zeros for the first `sink` keys [head, position, channel], and the bias by
    distance [head or 1, distances that have pairs], float64. LengthError for a text without two
    later keys."""
    if trace.length < sink + 2:
        raise LengthError(
            say(
                "Expected at least {least} tokens for a curve without the first {sink} keys; got "
                "{length}.",
                least=sink + 2,
                sink=sink,
                length=trace.length,
            )
        )
    q, k, _ = trace.take(layer)
    place = torch.device("cpu") if q.device.type == "mps" else q.device  # MPS has no float64
    late = k.to(place, torch.float64, copy=True)
    late[:, :sink] = 0
    size = trace.scores[layer].reach(trace.length - sink)
    bias = trace.strip(layer)[:, : trace.length].flip(-1)[:, :size].to(place, torch.float64)
    return q.to(place, torch.float64), late, bias
