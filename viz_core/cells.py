"""Attention over square cells of the map: the sum, or the largest, of the probabilities in each.

The map is taken in tiles that stay in the processor's cache. Three things make them quick, each
measured: keys go down and queries across, which suits a product of many keys with few queries;
logits are to base 2, since torch's exp2 takes a quarter of the time of its exp, and exp a hundred
times as long where its result is tiny; and what differs by row or by column alone (normaliser,
anchor) is a channel of the product, so that it costs no pass of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from viz_core import kernels
from viz_core.progress import Progress, ignore
from viz_core.trace import Trace
from viz_core.types import Range

LN2 = math.log(2)
QUERIES = (256, 128, 64)  # in a tile: as many as keep the biases near their anchor
NEAR = 40.0  # nats; float32 has room for twice as many below an anchor
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
    at_once = max(1, _room(out) // (QUERIES[-1] * (columns[1] - columns[0])))  # in a short text
    pairs = max(1, _pairs(rows, columns))
    for h in range(0, len(chosen), at_once):
        some = take(trace, layer, chosen[h : h + at_once])
        for a, b in spans(rows, cell, some.queries_at_once):
            if b <= columns[0]:
                continue
            end = columns[0] + math.ceil((b - columns[0]) / cell) * cell  # later keys are masked
            seen = columns[0], min(columns[1], end)
            found = (_largest if largest else _sums)(some, (a, b), seen, cell).mul_(LN2)
            found = found.transpose(1, 2).flip(1)  # [head, row, column]
            top = (a - rows[0]) // cell
            place = out[h : h + at_once, top : top + found.shape[1], : found.shape[2]]
            # whole cells, or a part of tall ones, which come in several groups
            place.copy_(found if (b - a) % cell == 0 else join(place, found))
            done = _pairs((rows[0], b), columns) / pairs
            progress((h + len(place) * done) / len(chosen))
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
class Heads:
    """Heads to base 2: log2 A[h, i, j] = q[h, i] . k[h, j] + strip, both [head, token, channel].

    The last two channels hold the row's normaliser, and the column's anchor: a scratch pad, for
    one thread. `strip` is the `kernels.band` of these heads, [head, 2 N - 1].
    """

    q: Tensor
    k: Tensor
    strip: Tensor

    def logits(self, rows: Range, columns: Range) -> Tensor:
        """log2 A less the columns' anchors: [head, key, query], the last query first."""
        (a, b), (c, d) = rows, columns
        start = self.k.shape[1] - b  # in this order the band is a view, as in `kernels`
        band = self.strip.unfold(1, b - a, 1)[:, start + c : start + d]
        if band.device.type != "cpu":
            band = band.contiguous()
        return torch.baddbmm(band, self.k[:, c:d], self.q[:, a:b].flip(1).transpose(1, 2))

    @property
    def queries_at_once(self) -> int:
        """As many of QUERIES as let biases differ by no more than NEAR within a tile's rows."""
        bias = self.strip[:, : self.k.shape[1]]
        for count in QUERIES[:-1]:
            if bias.shape[1] <= count:
                continue
            if bool(((bias[:, count:] - bias[:, :-count]).abs() * LN2 <= NEAR).all()):
                return count
        return QUERIES[-1]


def take(trace: Trace, layer: int, heads: Sequence[int]) -> Heads:
    """`heads` of `layer`, ready for products."""
    q, k, lse = (t[list(heads)] for t in trace.layers[layer])
    strip = trace.strip.expand(len(trace.layers[layer].q), -1)[list(heads)] / LN2
    one = torch.ones_like(lse)[..., None]
    queries = torch.cat((trace.scale / LN2 * q, -lse[..., None] / LN2, one), dim=-1)
    return Heads(queries, torch.cat((k, one, torch.zeros_like(one)), dim=-1), strip)


def _sums(heads: Heads, rows: Range, columns: Range, cell: int) -> Tensor:
    """log2 of the sums over the cells of one group of queries: as `_tiles`.

    A cell's anchor is the bias at its smallest distance. Without it, far cells of a steep ALiBi
    head, e^-1000 and less, would be zeros in float32.
    """
    (a, b), (c, d) = rows, columns
    end = torch.arange(c + cell, d + cell, cell, device=heads.k.device)
    near = (a + 1 - end).clamp(min=0)
    anchor = heads.strip[:, heads.k.shape[1] - 1 - near]  # [head, column]
    heads.k[:, c:d, -1] = -anchor.repeat_interleave(cell, dim=1)[:, : d - c]
    total = _tiles(heads, rows, columns, cell, _added)
    tall = min(cell, b - a)
    last = torch.arange(a + tall, b + tall, tall, device=end.device).flip(0)
    if bool(((total < SMALLEST) & (last > (end - cell)[:, None])).any()):
        return _tiles(heads, rows, columns, cell, _added_in_logs) + anchor[..., None]
    return total.log2_().add_(anchor[..., None])


def _largest(heads: Heads, rows: Range, columns: Range, cell: int) -> Tensor:
    """log2 of the largest A in the cells of one group of queries: as `_tiles`."""
    return _tiles(heads, rows, columns, cell, lambda y: y.amax(2).amax(-1))


def _tiles(
    heads: Heads, rows: Range, columns: Range, cell: int, reduce: Callable[[Tensor], Tensor]
) -> Tensor:
    """`reduce` over the cells of each tile, [head, column, key in cell, row, query in cell] to
    [head, column, row]; put together, the last row first."""
    queries = rows[1] - rows[0]
    size = (-1, min(cell, queries))
    parts = []
    for c, d in spans(columns, cell, max(cell, _room(heads.k) // (queries * len(heads.k)))):
        tile = heads.logits(rows, (c, d))
        parts.append(reduce(tile.unflatten(2, size).unflatten(1, (-1, min(cell, d - c)))))
    return torch.cat(parts, dim=1)


def _added(logits: Tensor) -> Tensor:
    return logits.exp2_().sum(2).sum(-1)  # down the keys first: whole vectors at a time


def _added_in_logs(logits: Tensor) -> Tensor:
    """log2 of the sums, of terms of any size."""
    top = logits.amax((2, 4), keepdim=True).clamp(min=torch.finfo(logits.dtype).min)
    return (logits - top).exp2_().sum((2, 4)).log2() + top[:, :, 0, :, 0]


def _room(like: Tensor) -> int:
    """Logits of a tile on the device of `like`."""
    return kernels.BLOCK_CELLS if like.device.type == "cpu" else kernels.GPU_CELLS


def _pairs(rows: Range, columns: Range) -> int:
    """Unmasked pairs of the rectangle."""
    return int(counts(rows, columns, max(rows[1] - rows[0], columns[1] - columns[0]))[0, 0])
