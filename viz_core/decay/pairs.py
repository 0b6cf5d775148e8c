"""What needs every pair of query and key: in blocks, whose distances are lined up in columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from viz_core import cells, kernels
from viz_core.progress import Progress, ignore
from viz_core.trace import Trace
from viz_core.types import SINK

ROWS = 64  # queries in a block of a profile

Array = npt.NDArray[np.float64]


def mean_probability(trace: Trace, layer: int, progress: Progress = ignore, sink: int = 0) -> Array:
    """The plain mean of A over all pairs at each distance: [head, N - sink].

    Without the first `sink` keys, which keep their part in each row's normaliser. Biased: short
    rows have larger probabilities and only small distances. `progress` may raise, to cancel.
    """
    n, heads = trace.length, trace.heads
    size = n - sink
    total = torch.zeros(heads, size, dtype=torch.float64)
    at_once = max(1, kernels.BLOCK_CELLS // (ROWS * n))
    for h in range(0, heads, at_once):
        some = cells.take(trace, layer, range(heads)[h : h + at_once])
        for a, b in cells.spans((sink, n), 1, ROWS):
            wide = b - sink
            block = _skewed(some.logits((a, b), (sink, b)).exp2_(), 0.0)
            total[h : h + at_once, :wide] += block.sum(dim=1)[:, :wide].flip(-1).cpu()
            progress((h + len(some.q) * (b / n) ** 2) / heads)
    counted: Array = (total / torch.arange(size, 0, -1)).numpy()
    return counted[:, : trace.scores[layer].reach(size)]


@dataclass(frozen=True)
class Near:
    """Sums of log-attention over near pairs, as `signatures.split` takes them, of one text.

    Over keys from `sink` on: diagonal [head, distance]; row [head, N - sink]; squares [head].
    """

    diagonal: Array
    row: Array
    squares: Array


def near(trace: Trace, layer: int, distances: int, sink: int = SINK) -> Near:
    """The sums over the `distances` nearest keys of each query, pair by pair in float64."""
    n, heads = trace.length, trace.heads
    distances = trace.scores[layer].reach(min(distances, n - sink))
    diagonal, row = np.zeros((heads, distances)), np.zeros((heads, n - sink))
    squares = np.zeros(heads)
    some = cells.take(trace, layer, range(heads))
    for a, b in cells.spans((sink, n), 1, ROWS):
        first = max(sink, a + 1 - distances)  # the farthest key of the block's first query
        logs = cells.LN2 * some.logits((a, b), (first, b)).cpu().double()
        # distances of a query fall from left to right, and end with 0
        block = _skewed(logs, -torch.inf)[..., : b - first].flip(-1)[..., :distances]
        y = torch.where(block.isfinite(), block, 0.0).flip(1).numpy()
        diagonal[:, : y.shape[2]] += y.sum(axis=1)
        row[:, a - sink : b - sink] = y.sum(axis=2)
        squares += (y**2).sum(axis=(1, 2))
    return Near(diagonal, row, squares)


def _skewed(block: Tensor, fill: float) -> Tensor:
    """[head, key, query], the last query first, as [head, query, column]: distances lined up.

    Each query is moved one column further right than the one above it; from the right end of the
    block on, columns are of no pair, and `fill` stands at the ends.
    """
    heads, keys, queries = block.shape
    width = keys + queries - 1
    wide = block.new_full((heads, queries, width), fill)
    wide[..., :keys] = block.transpose(1, 2)
    return wide.as_strided((heads, queries, width), (queries * width, width - 1, 1))
