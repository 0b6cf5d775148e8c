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
from typing import Literal

import torch
from torch import Tensor

from viz_core import kernels
from viz_core.progress import Progress, ignore
from viz_core.subject import Scores
from viz_core.trace import Trace
from viz_core.types import Range

LN2 = math.log(2)
QUERIES = (256, 128, 64)  # in a tile: as many as keep the biases near their anchor
NEAR = 40.0  # nats; float32 has room for twice as many below an anchor
Reduction = Literal["sum", "largest", "logs"]
SMALLEST = 2.0**-100  # a sum below it may have lost terms to float32's range, and is taken anew


def pool(
    trace: Trace,
    layer: int,
    rows: Range,
    columns: Range,
    cell: int,
    heads: slice,
    what: Reduction = "sum",
    progress: Progress = ignore,
) -> Tensor:
    """Of the pairs in each cell: [head, row, column], nats.

    By `what` the log of their "sum" of A, or of the "largest" (-inf where a cell holds no pair),
    or the sum of their "logs" (there 0). `progress` may raise, to cancel.
    """
    shape = [math.ceil((b - a) / cell) for a, b in (rows, columns)]
    chosen = range(trace.heads)[heads]
    out = trace.layers[layer].lse.new_full(
        (len(chosen), *shape), 0.0 if what == "logs" else -math.inf
    )
    reduce, join = _REDUCTIONS[what]
    at_once = max(1, _room(out) // (QUERIES[-1] * (columns[1] - columns[0])))  # in a short text
    how = trace.scores[layer]
    pairs = max(1, _pairs(rows, columns, how))
    for h in range(0, len(chosen), at_once):
        some = take(trace, layer, chosen[h : h + at_once])
        for a, b in spans(rows, cell, some.queries_at_once):
            first, end = kernels.seen(a, b, trace.length, how.window, how.causal)
            skipped = max(0, first - columns[0]) // cell  # cells whose keys are all out of sight
            first = columns[0] + skipped * cell
            end = min(columns[1], columns[0] + math.ceil((end - columns[0]) / cell) * cell)
            if end <= first:
                continue
            found = reduce(some, (a, b), (first, end), cell).mul_(LN2)
            found = found.transpose(1, 2).flip(1)  # [head, row, column]
            top = (a - rows[0]) // cell
            across = slice(skipped, skipped + found.shape[2])
            place = out[h : h + at_once, top : top + found.shape[1], across]
            # whole cells, or a part of tall ones, which come in several groups
            place.copy_(found if (b - a) % cell == 0 else join(place, found))
            done = _pairs((rows[0], b), columns, how) / pairs
            progress((h + len(place) * done) / len(chosen))
    return out


def counts(
    rows: Range, columns: Range, cell: int, window: int | None = None, causal: bool = True
) -> Tensor:
    """Unmasked pairs in each cell: [row, column], int64.

    With `causal` a pair's key is not after its query, with `window` fewer tokens than that away.
    """
    top = torch.tensor([*range(*rows, cell), rows[1]])[:, None]
    left = torch.tensor([*range(*columns, cell), columns[1]])

    def from_distance(least: int) -> Tensor:
        """Pairs at `least` or a greater distance."""
        seen = (top - left - least).clamp(min=0)
        before = seen * (seen + 1) // 2  # queries before `top`, keys from `left` on
        return before.diff(dim=0).diff(dim=1).neg()

    if causal:
        return from_distance(0) - (0 if window is None else from_distance(window))
    if window is None:
        return top.diff(dim=0) * left.diff()
    return from_distance(1 - window) - from_distance(window)


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
    one thread. `strip` is the `kernels.band` of these heads, [head, 2 N - 1]; `cap` the model's
    soft-cap, to base 2, of the other channels' product. `reach`: distances that have pairs.
    """

    q: Tensor
    k: Tensor
    strip: Tensor
    reach: int
    causal: bool = True
    cap: float | None = None

    def logits(self, rows: Range, columns: Range) -> Tensor:
        """log2 A less the columns' anchors: [head, key, query], the last query first."""
        (a, b), (c, d) = rows, columns
        start = self.k.shape[1] - b  # in this order the band is a view, as in `kernels`
        band = self.strip.unfold(1, b - a, 1)[:, start + c : start + d]
        if band.device.type != "cpu":
            band = band.contiguous()
        k, q = self.k[:, c:d], self.q[:, a:b].flip(1).transpose(1, 2)
        if self.cap is not None:
            dot = k[..., :-2] @ q[:, :-2]
            band = band + dot.div_(self.cap).tanh_().mul_(self.cap)
            k, q = k[..., -2:], q[:, -2:]
        return torch.baddbmm(band, k, q)

    @property
    def queries_at_once(self) -> int:
        """As many of QUERIES as let biases differ by no more than NEAR within a tile's rows."""
        n = self.k.shape[1]  # without what is masked
        bias = self.strip[:, n - self.reach : n if self.causal else n + self.reach - 1]
        for count in QUERIES[:-1]:
            if bias.shape[1] <= count:
                continue
            if bool(((bias[:, count:] - bias[:, :-count]).abs() * LN2 <= NEAR).all()):
                return count
        return QUERIES[-1]


def take(trace: Trace, layer: int, heads: Sequence[int]) -> Heads:
    """`heads` of `layer`, ready for products."""
    q, k, lse = trace.take(layer, heads)
    how = trace.scores[layer]
    strip = trace.strip(layer, heads).expand(len(q), -1) / LN2
    one = torch.ones_like(lse)[..., None]
    queries = torch.cat((how.scale / LN2 * q, -lse[..., None] / LN2, one), dim=-1)
    keys = torch.cat((k, one, torch.zeros_like(one)), dim=-1)
    cap = None if how.cap is None else how.cap / LN2
    return Heads(queries, keys, strip, how.reach(trace.length), how.causal, cap)


def _sums(heads: Heads, rows: Range, columns: Range, cell: int) -> Tensor:
    """log2 of the sums over the cells of one group of queries: as `_tiles`.

    A cell's anchor is the bias at its smallest distance. Without it, far cells of a steep ALiBi
    head, e^-1000 and less, would be zeros in float32.
    """
    (a, b), (c, d) = rows, columns
    end = torch.arange(c + cell, d + cell, cell, device=heads.k.device)
    near = (a + 1 - end).clamp(0, heads.reach - 1)
    anchor = heads.strip[:, heads.k.shape[1] - 1 - near]  # [head, column]
    heads.k[:, c:d, -1] = -anchor.repeat_interleave(cell, dim=1)[:, : d - c]
    total = _tiles(heads, rows, columns, cell, _added)
    tall = min(cell, b - a)
    last = torch.arange(a + tall, b + tall, tall, device=end.device).flip(0)
    end = end[:, None]
    paired = last - tall < end - 1 + heads.reach  # its first query sees its last key
    paired &= last > (end - cell if heads.causal else end - cell + 1 - heads.reach)
    if bool(((total < SMALLEST) & paired).any()):
        return _tiles(heads, rows, columns, cell, _added_in_logs) + anchor[..., None]
    return total.log2_().add_(anchor[..., None])


def _largest(heads: Heads, rows: Range, columns: Range, cell: int) -> Tensor:
    """log2 of the largest A in the cells of one group of queries: as `_tiles`."""
    return _tiles(heads, rows, columns, cell, lambda y: y.amax(2).amax(-1))


def _logs(heads: Heads, rows: Range, columns: Range, cell: int) -> Tensor:
    """The sum of log2 A in the cells of one group of queries, without masked pairs: as `_tiles`."""
    return _tiles(
        heads, rows, columns, cell, lambda y: y.masked_fill(y == -math.inf, 0.0).sum(2).sum(-1)
    )


_Reduce = Callable[["Heads", Range, Range, int], Tensor]
_REDUCTIONS: dict[Reduction, tuple[_Reduce, Callable[[Tensor, Tensor], Tensor]]] = {
    "sum": (_sums, torch.logaddexp),
    "largest": (_largest, torch.maximum),
    "logs": (_logs, torch.add),
}


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


def _pairs(rows: Range, columns: Range, how: Scores) -> int:
    """Unmasked pairs of the rectangle."""
    whole = max(rows[1] - rows[0], columns[1] - columns[0])
    return int(counts(rows, columns, whole, how.window, how.causal)[0, 0])
