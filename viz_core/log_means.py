"""Cell means of log-attention without its cells' pairs: the mean of dot products is the dot
product of means.

Over a cell of queries and keys that holds no masked pair, the mean of scale q_i . k_j is
scale mean(q) . mean(k): P x P products instead of N x N. Only the cells on the edges of the mask,
at most two in a row on each, are taken pair by pair. A soft-cap bends the products, and then all
pairs are.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core import cells, kernels
from viz_core.subject import LayerTrace, Scores
from viz_core.trace import Trace
from viz_core.types import Range


def mean_logs(
    trace: Trace,
    layer: int,
    rows: Range,
    columns: Range,
    cell: int,
    heads: slice,
    centre: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Mean of log A (less `centre` [head, query] of its row, where given) over unmasked pairs.

    Returns ([head, row, column], NaN where a cell holds no pair; pairs [row, column]),
    computed in float64.
    """
    how = trace.scores[layer]
    if how.cap is not None:
        return _pair_by_pair(trace, layer, rows, columns, cell, heads, centre)
    q, k, lse = trace.take(layer, heads)
    place = torch.device("cpu") if q.device.type == "mps" else q.device
    q, k, lse = (t.to(place, torch.float64) for t in (q, k, lse))
    level = lse if centre is None else lse + centre.to(lse)
    top, left = _edges(rows, cell), _edges(columns, cell)  # first token of each cell, and the end
    queries = _means(q[:, rows[0] : rows[1]], cell)  # [head, row, channel]
    keys = _means(k[:, columns[0] : columns[1]], cell)
    value = how.scale * queries @ keys.transpose(-1, -2)
    value += _bias_means(trace.strip(layer, heads), how, top, left).to(place)
    value -= _means(level[:, rows[0] : rows[1], None], cell)
    sizes = (top[1:] - top[:-1])[:, None] * (left[1:] - left[:-1])[None]
    first, last = top[:-1, None], top[1:, None] - 1  # queries of a cell, against its keys
    nearest, farthest = first - (left[None, 1:] - 1), last - left[None, :-1]
    least, most = _seen(how, trace.length)
    masked = (farthest < least) | (nearest > most)
    edge = ~masked & ((nearest < least) | (farthest > most))
    pairs = torch.where(masked, 0, sizes)
    value.masked_fill_(masked.to(place), float("nan"))
    at = edge.nonzero()
    step = max(1, kernels.BLOCK_CELLS // (cell * cell * len(q)))
    high = max(8, kernels.BLOCK_CELLS // (cell * len(q)))  # queries at once of a cell too large
    for some in at.split(step):
        j = left[some[:, 1], None] + torch.arange(cell)  # [which, key in cell]
        total, count = q.new_zeros(len(q), len(some)), torch.zeros(len(some), dtype=torch.int64)
        for part in torch.arange(cell).split(high):
            i = top[some[:, 0], None] + part  # [which, query in cell]
            logs = how.scale * _dots(q, k, i, j) - level[:, i.clamp(max=rows[1] - 1), None]
            distance = i[:, :, None] - j[:, None, :]
            logs += _bias(trace.strip(layer, heads), distance).to(logs)
            real = (distance >= least) & (distance <= most)
            real &= (j < columns[1])[:, None, :] & (i < rows[1])[:, :, None]
            count += real.sum((-2, -1))
            total += torch.where(real.to(place), logs, 0.0).sum((-2, -1))
        value[:, some[:, 0], some[:, 1]] = total / count.to(total)
        pairs[some[:, 0], some[:, 1]] = count
    return value, pairs


def _pair_by_pair(
    trace: Trace,
    layer: int,
    rows: Range,
    columns: Range,
    cell: int,
    heads: slice,
    centre: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """`mean_logs` out of every pair."""
    how = trace.scores[layer]
    if centre is not None:  # a row's centre counts as its normaliser does
        layers = list(trace.layers)
        q, k, lse = layers[layer]
        whole = torch.zeros_like(lse)
        whole[heads] = centre.to(lse)
        layers[layer] = LayerTrace(q, k, lse + whole)
        trace = replace(trace, layers=tuple(layers))
    total = cells.pool(trace, layer, rows, columns, cell, heads, "logs").double()
    pairs = cells.counts(rows, columns, cell, how.window, how.causal)
    return total / torch.where(pairs > 0, pairs, torch.nan).to(total), pairs


def _seen(how: Scores, length: int) -> Range:
    """The smallest and the largest distance that have a pair."""
    high = how.reach(length) - 1
    return (0 if how.causal else -high), high


def _dots(q: Tensor, k: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """q . k of cells that each have their queries i and keys j [which, in cell].

    Returns [head, which, query in cell, key in cell]; tokens past the end repeat the last one.
    """
    n = q.shape[1]
    return q[:, i.clamp(max=n - 1)] @ k[:, j.clamp(max=n - 1)].transpose(-1, -2)


def _bias(strip: Tensor, distance: Tensor) -> Tensor:
    """The bias at each `distance` [...]: [head or 1, ...]; 0 where it is masked."""
    middle = strip.shape[-1] // 2
    bias = strip[:, (middle - distance).clamp(0, strip.shape[-1] - 1)]
    return bias.masked_fill(bias == -torch.inf, 0.0)


def _edges(span: Range, cell: int) -> Tensor:
    return torch.tensor([*range(span[0], span[1], cell), span[1]])


def _means(x: Tensor, cell: int) -> Tensor:
    """x [head, token, ...] averaged over cells of tokens; the last cell over what it has."""
    count = x.shape[1]
    summed = F.pad(x, (0, 0, 0, -count % cell)).unflatten(1, (-1, cell)).sum(2)
    size = torch.full((summed.shape[1], 1), float(cell), dtype=x.dtype, device=x.device)
    size[-1] = count - cell * (summed.shape[1] - 1)
    means: Tensor = summed / size
    return means


def _bias_means(strip: Tensor, how: Scores, top: Tensor, left: Tensor) -> Tensor:
    """Mean of the bias over each cell without masked pairs: [head or 1, row, column].

    By running sums of running sums over distance: the sum over a row's keys is a difference of
    the first, that over a cell's rows a difference of the second.
    """
    n = (strip.shape[-1] + 1) // 2
    least = 0 if how.causal else 1 - n
    bias = _bias(strip, torch.arange(least, n, device=strip.device)).cpu().double()
    if not bias.any():
        return torch.zeros(1, 1, 1, dtype=torch.float64)
    once = F.pad(bias.cumsum(-1), (1, 0))  # [m]: of the m smallest distances
    twice = F.pad(once.cumsum(-1), (1, 0))  # [m]: of `once`, below m

    def below(query: Tensor, key: Tensor) -> Tensor:
        """Sum over queries before `query` of the bias to all keys from `key` on."""
        return twice[:, (query[:, None] - key[None] + 1 - least).clamp(min=0)]

    total = (
        below(top[1:], left[:-1])
        - below(top[:-1], left[:-1])
        - below(top[1:], left[1:])
        + below(top[:-1], left[1:])
    )
    sizes = (top[1:] - top[:-1])[:, None] * (left[1:] - left[:-1])[None]
    return total / sizes
