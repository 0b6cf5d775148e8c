"""Maps and decay curves out of attention that is held whole: what one does with a peer's weights.

The same numbers as ours, by sums over the N x N map itself. Written to be quick and lean (blocks
of rows that stay in the processor's cache, half the map left out where it is masked), so that
peers are measured at their best.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core import cells, decay

ROWS = 64  # at once
Map = npt.NDArray[np.float32]
Curve = npt.NDArray[np.float64]


def pooled(a: Tensor, pixels: int) -> Map:
    """a [head, query, key] as log means over the causal pairs of at most pixels x pixels cells."""
    n = a.shape[-1]
    cell = -(-n // pixels)
    pairs = cells.counts((0, n), (0, n), cell)
    total = F.avg_pool2d(a, cell, ceil_mode=True, divisor_override=1)  # that is, sums
    means: Tensor = (total / pairs).log()
    return means.masked_fill_(pairs == 0, -np.inf).numpy()


def curve(a: Tensor) -> Curve:
    """The row-fixed-effects curve of a [head, query, key]: [head, distance], as `decay` fits it.

    For attention without a zero among its causal pairs: such a pair would count as 1.
    """
    sink = decay.SINK
    size = a.shape[-1] - sink
    diagonal, row = (torch.zeros(len(a), size, dtype=torch.float64) for _ in range(2))
    for h, head in enumerate(a[:, sink:, sink:]):
        for first in range(0, size, ROWS):
            last = min(first + ROWS, size)
            # the last query first and moved one column further right for each row down:
            # distances line up
            rows = last - first
            block = head.new_zeros(rows, last + rows - 1)
            logs = head[first:last, :last].flip(0).log_().nan_to_num_(neginf=0.0)
            row[h, first:last] = logs.sum(-1).flip(0)
            block[:, :last] = logs
            skewed = block.as_strided((rows, last + rows - 1), (last + rows - 2, 1))
            diagonal[h, :last] += skewed.sum(0)[:last].flip(0)
    fit, pairs = decay.fit(diagonal.numpy(), row.numpy()), size - np.arange(size)
    shown = max(2, int((pairs >= min(decay.FLOOR, size // 4)).sum()))
    fit = fit[:, :shown]
    centred: Curve = fit - np.average(fit, axis=1, weights=pairs[:shown])[:, None]
    return centred
