"""Attention over square cells of the map: the sum, or the largest, of the probabilities in each.

The map is taken in tiles that stay in the processor's cache. Three things make them quick, each
measured: keys go down and queries across, which suits a product of many keys with few queries;
logits are to base 2, since torch's exp2 takes a quarter of the time of its exp, and exp a hundred
times as long where its result is tiny; and what differs by row or by column alone (normaliser,
anchor) is a channel of the product, so that it costs no pass of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from viz_core import kernels
from viz_core.progress import Progress, ignore
from viz_core.trace import Trace
from viz_core.types import Range

LN2 = math.log(2)
QUERIES = 64  # in a tile; with more, an anchor would lie further from the biases it stands for
SMALLEST = 2.0**-100  # a sum below it may have lost terms to float32's range, and is taken anew


def pool(
    trace: Trace,
    layer: int,
    rows: Range,
    columns: Range,
    cell: int,
    heads: slice,
    largest: bool = False,
    progress: Progress = ignore,
) -> Tensor:
    """log of the sum of A over each cell, or of its largest value: [head, row, column], nats.

    -inf where a cell holds no pair. `progress` may raise, to cancel.
    """
    shape = [math.ceil((b - a) / cell) for a, b in (rows, columns)]
    chosen = range(len(trace.layers[layer].q))[heads]
    out = trace.strip.new_full((len(chosen), *shape), -math.inf)
    join = torch.maximum if largest else torch.logaddexp
    groups = []  # (queries, the keys that not all of them are before)
    for a, b in spans(rows, cell, QUERIES):
        end = columns[0] + math.ceil((b - columns[0]) / cell) * cell
        if b > columns[0]:
            groups.append(((a, b), (columns[0], min(columns[1], end))))
    done, total = 0, len(chosen) * sum((b - a) * (d - c) for (a, b), (c, d) in groups)
    for h, which in enumerate(chosen):
        one = head(trace, layer, which)
        for (a, b), (c, d) in groups:
            found = (_largest if largest else _sums)(one, (a, b), (c, d), cell) * LN2
            top = (a - rows[0]) // cell
            place = out[h, top : top + found.shape[0], : found.shape[1]]
            place.copy_(join(place, found))  # a tall cell comes in several groups
            done += (b - a) * (d - c)
            progress(done / total)
    return out


def counts(rows: Range, columns: Range, cell: int) -> Tensor:
    """Unmasked pairs in each cell: [row, column], int64. A pair's key is not after its query."""
    top = torch.tensor([*range(*rows, cell), rows[1]])[:, None]
    left = torch.tensor([*range(*columns, cell), columns[1]])
    seen = (top - left).clamp(min=0)
    before = seen * (seen + 1) // 2  # pairs of the queries before `top` and the keys from `left` on
    return before.diff(dim=0).diff(dim=1).neg()


def spans(span: Range, cell: int, most: int) -> Iterator[Range]:
    """Cuts `span` into ranges of about `most` tokens: of whole cells, or within a single cell."""
    first, last = span
    whole = first + (last - first) // cell * cell
    size = most // cell * cell
    if size:
        for a in range(first, whole, size):
            yield a, min(a + size, whole)
    for a in range(whole if size else first, last, cell):
        for part in range(a, min(a + cell, last), most):
            yield part, min(part + most, a + cell, last)


@dataclass(frozen=True)
class Head:
    """One head to base 2: log2 A[i, j] = queries[i] . keys[j] + strip, both [token, channel].

    The last two channels hold the row's normaliser and the column's anchor.
    """

    queries: Tensor
    keys: Tensor
    strip: Tensor  # `kernels.band` of this head, [2 N - 1]

    def logits(self, rows: Range, columns: Range) -> Tensor:
        """log2 A less the columns' anchors: [key, query], the last query first."""
        (a, b), (c, d) = rows, columns
        start = len(self.keys) - b  # in this order the band is a view, as in `kernels`
        band = self.strip.unfold(0, b - a, 1)[start + c : start + d]
        if band.device.type != "cpu":
            band = band.contiguous()
        return torch.addmm(band, self.keys[c:d], self.queries[a:b].flip(0).T)


def head(trace: Trace, layer: int, which: int) -> Head:
    """Head `which` of `layer`, ready for products."""
    q, k, lse = (t[which] for t in trace.layers[layer])
    strip = trace.strip[which % len(trace.strip)] / LN2
    one = q.new_ones(len(q), 1)
    queries = torch.cat((trace.scale / LN2 * q, -lse[:, None] / LN2, one), dim=1)
    return Head(queries, torch.cat((k, one, torch.zeros_like(one)), dim=1), strip)


def _sums(head: Head, rows: Range, columns: Range, cell: int) -> Tensor:
    """log2 of the sums over the cells of one group of queries: [row, column].

    A cell's anchor is the bias at its smallest distance. Without it, far cells of a steep ALiBi
    head, e^-1000 and less, would be zeros in float32.
    """
    (a, b), (c, d) = rows, columns
    end = torch.arange(c + cell, d + cell, cell, device=head.keys.device)
    near = (a + 1 - end).clamp(min=0)
    anchor = head.strip[len(head.keys) - 1 - near]
    head.keys[c:d, -1] = -anchor.repeat_interleave(cell)[: d - c]
    total = _tiles(head, rows, columns, cell, _added)
    tall = min(cell, b - a)
    last = torch.arange(a + tall, b + tall, tall, device=end.device)[:, None]
    if bool((total < SMALLEST)[last > end - cell].any()):
        return _tiles(head, rows, columns, cell, _added_in_logs) + anchor
    return total.log2() + anchor


def _largest(head: Head, rows: Range, columns: Range, cell: int) -> Tensor:
    """log2 of the largest A in the cells of one group of queries: [row, column]."""
    return _tiles(head, rows, columns, cell, lambda y: y.amax(1).amax(-1))


def _tiles(
    head: Head, rows: Range, columns: Range, cell: int, reduce: Callable[[Tensor], Tensor]
) -> Tensor:
    """`reduce` over the cells of each tile, [column, key in cell, row, query in cell] to [column,
    row]; put together as [row, column]."""
    tall = min(cell, rows[1] - rows[0])
    room = kernels.BLOCK_CELLS if head.keys.device.type == "cpu" else kernels.GPU_CELLS
    parts = []
    for c, d in spans(columns, cell, max(cell, room // (rows[1] - rows[0]))):
        tile = head.logits(rows, (c, d))
        parts.append(reduce(tile.unflatten(1, (-1, tall)).unflatten(0, (-1, min(cell, d - c)))))
    return torch.cat(parts).T.flip(0)


def _added(logits: Tensor) -> Tensor:
    return logits.exp2_().sum(1).sum(-1)  # down the keys first: whole vectors at a time


def _added_in_logs(logits: Tensor) -> Tensor:
    """log2 of the sums, of terms of any size."""
    top = logits.amax((1, 3), keepdim=True).clamp(min=torch.finfo(logits.dtype).min)
    return (logits - top).exp2_().sum((1, 3)).log2() + top[:, 0, :, 0]
