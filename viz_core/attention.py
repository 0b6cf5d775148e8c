"""Windows of the attention map, out of a trace: exact, blocked, at most P x P cells out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core import decay, kernels, pooling
from viz_core.errors import LengthError
from viz_core.trace import Trace
from viz_core.types import SINK, Kind, Range, Window


def window(
    trace: Trace,
    layer: int,
    rows: Range | None = None,
    columns: Range | None = None,
    pixels: int = 512,
    heads: slice = slice(None),
) -> Window:
    """Mean probability over cells, in log space: exact token by token where the range allows.

    `rows`, `columns` default to the whole map. Cells are the smallest that keep both sides within
    `pixels`. Raises LengthError for an empty range or one outside the text.
    """
    rows, columns = _checked(trace, rows, columns)
    cell = _cell(rows, columns, pixels)
    total, count = _empty(trace, rows, columns, cell, heads)
    for a, b, end in _blocks(trace, rows, columns, cell, heads):
        logs = trace.log_attention(layer, (a, b), (columns[0], end), heads)
        pairs = _pairs((a, b), (columns[0], end), cell)
        pooled = torch.logsumexp(_cells(logs, cell), dim=(-3, -1)) if cell > 1 else logs
        place = _place(a - rows[0], pairs, cell)
        total[place] = torch.logaddexp(total[place], pooled)
        count[place] += pairs
    known = count.to(total)
    value = torch.where(known > 0, total - torch.log(known), -math.inf)
    return Window(_array(value), count.numpy(), rows, columns, cell)


def log_window(
    trace: Trace,
    layer: int,
    rows: Range | None = None,
    columns: Range | None = None,
    pixels: int = 512,
    heads: slice = slice(None),
    centred: bool = False,
    sink: int = SINK,
) -> Window:
    """The mean of log-attention over cells, in nats: what can be averaged over texts (`mean`).

    Content differs from text to text and fades in that mean; position stays. `centred` takes from
    each row its mean over the keys from `sink` on: what is left is how much a query prefers a key
    to its others.
    """
    rows, columns = _checked(trace, rows, columns)
    cell = _cell(rows, columns, pixels)
    centre = decay.row_means(trace, layer, sink)[heads] if centred else None
    value, count = pooling.mean_logs(trace, layer, rows, columns, cell, heads, centre)
    kind: Kind = "centred" if centred else "log"
    return Window(_array(value), count.numpy(), rows, columns, cell, kind)


def mean(windows: Sequence[Window]) -> Window:
    """The mean over texts of windows of log-attention; ValueError if they don't match."""
    first = windows[0]
    alike = (first.kind, first.value.shape, first.rows, first.columns)
    if first.kind == "probability" or any(
        (w.kind, w.value.shape, w.rows, w.columns) != alike for w in windows
    ):
        raise ValueError("only windows of log-attention over the same tokens have a mean")
    value = np.stack([w.value for w in windows]).mean(axis=0, dtype=np.float32)
    return replace(first, value=value, texts=len(windows))


def coarser(window: Window, factor: int) -> Window:
    """The same rectangle in cells `factor` times as wide: means of the cells, weighted by pairs."""
    rows, columns = window.count.shape
    pad = ((0, -rows % factor), (0, -columns % factor))
    linear = (
        np.exp(window.value.astype(np.float64)) if window.kind == "probability" else window.value
    )
    total = np.where(window.count > 0, linear * window.count, 0.0)

    def pooled(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        x = np.pad(x, ((0, 0),) * (x.ndim - 2) + pad)
        shape = (*x.shape[:-2], x.shape[-2] // factor, factor, x.shape[-1] // factor, factor)
        summed: npt.NDArray[Any] = x.reshape(shape).sum(axis=(-3, -1))
        return summed

    count = pooled(window.count)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = pooled(total) / count
        if window.kind == "probability":
            value = np.where(count > 0, np.log(value), -np.inf)
    return replace(window, value=value.astype(np.float32), count=count, cell=window.cell * factor)


def row_sums(window: Window) -> npt.NDArray[np.float64]:
    """Probability that each row of cells holds, per query: [head, row]; 1 for a whole map."""
    mass = np.exp(window.value.astype(np.float64)) * window.count
    first, last = window.rows
    queries = np.minimum(window.cell, last - np.arange(first, last, window.cell))
    summed: npt.NDArray[np.float64] = np.nansum(mass, axis=-1) / queries
    return summed


def _checked(trace: Trace, rows: Range | None, columns: Range | None) -> tuple[Range, Range]:
    whole = (0, trace.length)
    for name, (a, b) in (("rows", rows or whole), ("columns", columns or whole)):
        if not 0 <= a < b <= trace.length:
            raise LengthError(
                f"Expected {name} between 0 and {trace.length:,} with the first below the last; "
                f"got {a:,} to {b:,}."
            )
    return rows or whole, columns or whole


def _cell(rows: Range, columns: Range, pixels: int) -> int:
    if pixels < 1:
        raise LengthError(f"Expected at least 1 pixel; got {pixels}.")
    return math.ceil(max(rows[1] - rows[0], columns[1] - columns[0]) / pixels)


def _blocks(
    trace: Trace, rows: Range, columns: Range, cell: int, heads: slice
) -> Iterator[tuple[int, int, int]]:
    """(first row, last row, last column that is not wholly masked) of each block.

    A block is whole rows of cells or, where one is too large to hold, a part of one.
    """
    per_row = len(trace.layers[0].q[heads]) * (columns[1] - columns[0])
    step = max(8, kernels.BLOCK_CELLS // max(per_row, 1))
    group = max(cell, step // cell * cell)
    for first in range(rows[0], rows[1], group):
        last = min(first + group, rows[1])
        for a in range(first, last, min(step, group)):
            b = min(a + min(step, group), last)
            yield a, b, min(columns[1], max(b, columns[0] + 1))


def _empty(
    trace: Trace, rows: Range, columns: Range, cell: int, heads: slice
) -> tuple[Tensor, Tensor]:
    """What blocks are added to: logs of no probability [head, row, column], and no pairs."""
    shape = [math.ceil((b - a) / cell) for a, b in (rows, columns)]
    q = trace.layers[0].q[heads]
    return q.new_full((len(q), *shape), -math.inf), torch.zeros(shape, dtype=torch.int64)


def _place(row: int, pairs: Tensor, cell: int) -> tuple[EllipsisType, slice, slice]:
    """Where the cells of a block belong that starts `row` rows below the window's first."""
    first = row // cell
    return ..., slice(first, first + pairs.shape[0]), slice(0, pairs.shape[1])


def _cells(logs: Tensor, cell: int) -> Tensor:
    """[head, query, key] as [head, row, query in cell, column, key in cell], padded at the ends."""
    high = min(cell, logs.shape[-2])  # fewer queries than a cell's: a part of one row of cells
    pad = (0, -logs.shape[-1] % cell, 0, -logs.shape[-2] % high)
    padded = F.pad(logs, pad, value=-math.inf)
    cells: Tensor = padded.unflatten(-1, (-1, cell)).unflatten(-3, (-1, high))
    return cells


def _pairs(rows: Range, columns: Range, cell: int) -> Tensor:
    """Unmasked pairs in each cell: [row, column], int64, from the positions alone."""
    query = torch.arange(*rows)[:, None]
    first = torch.arange(*columns, cell)[None]
    size = (columns[1] - first).clamp(max=cell)
    per_query = torch.minimum((query - first + 1).clamp(min=0), size)
    high = min(cell, len(per_query))
    padded = F.pad(per_query, (0, 0, 0, -len(per_query) % high))
    return torch.stack(padded.split(high)).sum(dim=1)


def _array(value: Tensor) -> npt.NDArray[np.float32]:
    array: npt.NDArray[np.float32] = value.float().cpu().numpy()
    return array
