"""Attention by distance, out of a trace.

The default is the row-fixed-effects fit log A[i, j] = alpha_i + b(i - j): the plain mean over rows
shows a slope even where there is none, because short rows have larger weights and only small
distances. Its least-squares solution needs just two sums of logits, along diagonals and along
rows, and both come without the N x N map (`sums`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from viz_core import kernels
from viz_core.decay import sums
from viz_core.decay.pairs import Near, mean_probability, near
from viz_core.subject import LayerTrace, Scores
from viz_core.trace import Trace
from viz_core.types import SINK, Curve

__all__ = [
    "FLOOR",
    "Near",
    "Part",
    "by_distance",
    "fit",
    "law",
    "mean_probability",
    "near",
    "part",
    "row_means",
    "slope",
]

FLOOR = 200  # pairs below which a distance is not shown

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """What one text says of one layer: what curves, slopes and laws over several texts need.

    fit [head, distance], nats, b(0) = 0; logit [head, distance], the plain mean of logits, nats;
    pull [head] and weight, whose quotient is the slope; query, key [head, channel], the means
    before the encoding turned them. All of pairs whose key is not after the query. `ahead` is the
    fit of the others, where the layer sees them, with the same b(0).
    """

    fit: Array
    logit: Array
    pull: Array
    weight: float
    query: Tensor
    key: Tensor
    length: int
    sink: int
    ahead: Array | None = None


def part(trace: Trace, layer: int, sink: int = SINK) -> Part:
    """One text's part of the row-fixed-effects fits of all heads of `layer`.

    Raises LengthError for a text without two keys after the first `sink`.
    """
    diagonal, row = (x.cpu().double().numpy() for x in sums.along(trace, layer, sink))
    d = np.arange(diagonal.shape[1])
    far = np.minimum(np.arange(row.shape[1]), d[-1])  # the largest distance of each row
    how, n = trace.scores[layer], trace.length
    q, k, _ = trace.take(layer)
    positions = torch.arange(n, device=q.device)
    query = how.encoding.unrotate(q, positions, n).mean(dim=1)
    key = how.encoding.unrotate_key(k, positions, n).mean(dim=1)
    return Part(
        fit=fit(diagonal, row),
        logit=diagonal / (row.shape[1] - d),
        pull=diagonal @ d - row @ (far / 2),  # a row's distances 0 .. m have the mean m / 2
        weight=float(np.sum(far * (far + 1.0) * (far + 2.0) / 12)),
        query=query,
        key=key,
        length=n,
        sink=sink,
        ahead=None if how.causal else _ahead(trace, layer, sink),
    )


def _ahead(trace: Trace, layer: int, sink: int) -> Array:
    """The fit over keys after the query (and itself): that of the text read backwards.

    Its distances are those of the other fit. The text's first keys are hardly ever ahead of a
    query, so none is left out.
    """
    q, k, lse = (x.flip(1) for x in trace.layers[layer])
    how = trace.scores[layer]
    past = replace(how, strip=how.strip.flip(-1), causal=True)
    turned = Trace((LayerTrace(q, k, lse),), (past,))
    return fit(*(x.cpu().double().numpy() for x in sums.along(turned, 0, 0)))[
        :, : trace.length - sink
    ]


def fit(diagonal: Array, row: Array) -> Array:
    """Least squares of y = alpha_i + b(d) from its sums; b(0) = 0. [head, distance].

    `diagonal` [head, distance] holds the sums of y along diagonals, `row` [head, m] along rows.

    Row m holds the distances 0 .. m, as far as there are diagonals, so the normal equations of d
    and d + 1 differ by one row:
    n(d+1) (b(d+1) - b(d)) = delta(d) - g(d), where n(d) pairs are at distance d, delta(d) is b(d)
    less the mean of b(0) .. b(d), and g(d) = Y(d) - Y(d+1) - rowmean(d). The products in that
    recursion telescope, which leaves two running sums.
    """
    d = np.arange(diagonal.shape[1])
    rows = row.shape[1]
    g = diagonal[:, :-1] - diagonal[:, 1:] - (row[:, : len(d)] / (d + 1))[:, :-1]
    delta = np.zeros_like(diagonal)
    delta[:, 1:] = -np.cumsum((d[:-1] + 1) * g, axis=1) / ((d[1:] + 1) * (rows - d[1:]))
    curve: Array = delta + np.cumsum(delta / np.maximum(d, 1), axis=1)
    return curve


def by_distance(parts: Sequence[Part], floor: int = FLOOR) -> Curve:
    """The row-fixed-effects curve of all heads of a layer, mean over texts of equal length.

    Distances with fewer than `floor` pairs are left out.
    """
    fits = np.stack([p.fit for p in parts])  # [text, head, distance]
    pairs = (parts[0].length - parts[0].sink - np.arange(fits.shape[-1])) * len(parts)
    floor = min(floor, int(pairs[0]) // 4)  # in short texts every distance has few
    shown = max(2, int((pairs >= floor).sum()))
    fits, pairs = fits[..., :shown], pairs[:shown]
    level = np.average(fits, axis=-1, weights=pairs)[..., None]  # the constant is arbitrary
    fits = fits - level
    spread = fits.std(axis=0, ddof=1) if len(fits) > 1 else np.full(fits.shape[1:], np.nan)
    ahead = None
    if parts[0].ahead is not None:
        ahead = (np.stack([np.asarray(p.ahead)[:, :shown] for p in parts]) - level).mean(axis=0)
    error = spread / len(fits) ** 0.5
    return Curve(fits.mean(axis=0), error, pairs, len(fits), parts[0].sink, ahead)


def slope(parts: Sequence[Part]) -> Array:
    """The row-fixed-effects slope of log-attention per token of distance: [head], nats.

    Least squares of log A on d within rows, over all pairs of all texts; -m_h for pure ALiBi.
    """
    pulls = np.stack([p.pull for p in parts])
    return np.asarray(pulls.sum(axis=0) / sum(p.weight for p in parts))


def law(parts: Sequence[Part], how: Scores, distances: int) -> Array | None:
    """The encoding's own curve at 0 .. distances - 1: [head, distance], up to a constant.

    For RoPE from the mean q and k over the texts; None where an encoding has no law. `how` are the
    layer's Scores.
    """
    query = torch.stack([p.query for p in parts]).mean(dim=0)
    key = torch.stack([p.key for p in parts]).mean(dim=0)
    # all of the text's distances: where the law depends on the length (dynamic NTK), on this one
    span = torch.arange(max(distances, parts[0].length), device=query.device)
    curve = how.encoding.law(span, query, key, how.scale)
    if curve is None:
        return None
    if how.cap is not None and how.encoding.bias(span[:1]) is None:
        curve = how.cap * (curve / how.cap).tanh()  # a law of q and k is bent as they are
    return curve[:, :distances].detach().double().cpu().numpy()


def row_means(trace: Trace, layer: int, sink: int = SINK) -> Tensor:
    """Mean of log A over each query's keys from `sink` on: [head, query], nats.

    The first `sink` queries have no such key: theirs is the mean over all keys they see.
    """
    lse, how = trace.layers[layer].lse, trace.scores[layer]
    if not how.causal:
        return _means_of_all(trace, layer, sink)
    row = sums.rows(trace, layer, sink)
    count = torch.arange(1, row.shape[1] + 1, device=row.device).clamp(max=how.reach(trace.length))
    start = trace.log_attention(layer, (0, sink), (0, sink), slice(None))
    seen = start.isfinite()
    early = start.masked_fill(~seen, 0).sum(-1) / seen.sum(-1)
    return torch.cat((early, (row / count).to(lse) - lse[:, sink:]), dim=-1)


def _means_of_all(trace: Trace, layer: int, sink: int) -> Tensor:
    """`row_means` where queries see keys on both sides: in blocks, pair by pair."""
    lse, n = trace.layers[layer].lse, trace.length
    out = torch.empty_like(lse)
    for a, b in kernels.row_blocks((0, n), len(lse) * n):
        logs = trace.log_attention(layer, (a, b), (sink, n), slice(None)).double()
        seen = logs.isfinite()
        out[:, a:b] = logs.masked_fill(~seen, 0).sum(-1) / seen.sum(-1)
    return out
