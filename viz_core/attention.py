"""Windows of the attention map, out of a trace: exact, blocked, at most P x P cells out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core import decay, kernels
from viz_core.errors import LengthError
from viz_core.trace import Trace
from viz_core.types import Kind, Range, Window


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
    out, count = [], []
    for a, b, end in _blocks(trace, rows, columns, cell, heads):
        logs = trace.log_attention(layer, (a, b), (columns[0], end), heads)
        pairs = _pairs((a, b), (columns[0], end), cell)
        pooled = torch.logsumexp(_cells(logs, cell), dim=(-3, -1)) if cell > 1 else logs
        pooled = pooled - torch.log(
            pairs.to(pooled)
        )  # empty: -inf - -inf, masked below
        out.append(
            _widen(
                pooled.masked_fill(pairs.to(pooled.device) == 0, -math.inf),
                columns,
                cell,
            )
        )
        count.append(_widen(pairs, columns, cell, fill=0))
    return Window(_join(out), torch.cat(count).numpy(), rows, columns, cell)


def log_window(
    trace: Trace,
    layer: int,
    rows: Range | None = None,
    columns: Range | None = None,
    pixels: int = 512,
    heads: slice = slice(None),
    centred: bool = False,
    sink: int = decay.SINK,
) -> Window:
    """The mean of log-attention over cells, in nats: what can be averaged over texts (`mean`).

    Content differs from text to text and fades in that mean; position stays. `centred` takes from
    each row its mean over the keys from `sink` on: what is left is how much a query prefers a key
    to its others. Rows with no such key have no mean and are left out.
    """
    rows, columns = _checked(trace, rows, columns)
    cell = _cell(rows, columns, pixels)
    centre = decay.row_means(trace, layer, sink)[heads] if centred else None
    out, count = [], []
    for a, b, end in _blocks(trace, rows, columns, cell, heads):
        logs = trace.log_attention(layer, (a, b), (columns[0], end), heads)
        if centre is not None:
            logs -= centre[:, a:b, None]
        known = torch.isfinite(logs)  # not the future, nor a row without a mean
        pairs = _cells(known[:1].long(), cell).sum(dim=(-3, -1))[0].cpu()
        total = _cells(torch.where(known, logs, 0.0), cell, fill=0.0).sum(dim=(-3, -1))
        out.append(_widen(total / pairs.to(total), columns, cell, fill=math.nan))
        count.append(_widen(pairs, columns, cell, fill=0))
    kind: Kind = "centred" if centred else "log"
    return Window(_join(out), torch.cat(count).numpy(), rows, columns, cell, kind)


def mean(windows: Sequence[Window]) -> Window:
    """The mean over texts of windows of log-attention; ValueError if they don't match."""
    first = windows[0]
    alike = (first.kind, first.value.shape, first.rows, first.columns)
    if first.kind == "probability" or any(
        (w.kind, w.value.shape, w.rows, w.columns) != alike for w in windows
    ):
        raise ValueError(
            "only windows of log-attention over the same tokens have a mean"
        )
    value = np.mean([w.value for w in windows], axis=0, dtype=np.float32)
    return replace(first, value=value, texts=len(windows))


def row_sums(window: Window) -> npt.NDArray[np.float64]:
    """Probability that each row of cells holds, per query: [head, row]; 1 for a whole map."""
    mass = np.exp(window.value.astype(np.float64)) * window.count
    first, last = window.rows
    queries = np.minimum(window.cell, last - np.arange(first, last, window.cell))
    summed: npt.NDArray[np.float64] = np.nansum(mass, axis=-1) / queries
    return summed


def _checked(
    trace: Trace, rows: Range | None, columns: Range | None
) -> tuple[Range, Range]:
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
    """(first row, last row, last column that is not wholly masked) of whole rows of cells."""
    count = len(trace.layers[0].q[heads])
    per_row = count * (columns[1] - columns[0])
    step = max(cell, kernels.BLOCK_CELLS // max(per_row, 1) // cell * cell)
    for a in range(rows[0], rows[1], step):
        b = min(a + step, rows[1])
        yield a, b, min(columns[1], max(b, columns[0] + 1))


def _cells(block: Tensor, cell: int, fill: float = -math.inf) -> Tensor:
    """[head, query, key] as [head, row, query in cell, column, key in cell], padded at the ends."""
    pad = (0, -block.shape[-1] % cell, 0, -block.shape[-2] % cell)
    fill = fill if block.is_floating_point() else 0
    return (
        F.pad(block, pad, value=fill)
        .unflatten(-1, (-1, cell))
        .unflatten(-3, (-1, cell))
    )


def _pairs(rows: Range, columns: Range, cell: int) -> Tensor:
    """Unmasked pairs in each cell: [row, column], int64, from the positions alone."""
    query = torch.arange(*rows)[:, None]
    first = torch.arange(*columns, cell)[None]
    size = (columns[1] - first).clamp(max=cell)
    per_query = torch.minimum((query - first + 1).clamp(min=0), size)
    return (
        F.pad(per_query, (0, 0, 0, -len(per_query) % cell))
        .unflatten(0, (-1, cell))
        .sum(1)
    )


def _widen(block: Tensor, columns: Range, cell: int, fill: float = -math.inf) -> Tensor:
    """The columns of cells that were skipped as masked, put back with `fill`."""
    width = math.ceil((columns[1] - columns[0]) / cell)
    return F.pad(block, (0, width - block.shape[-1]), value=fill)


def _join(blocks: list[Tensor]) -> npt.NDArray[np.float32]:
    joined: npt.NDArray[np.float32] = torch.cat(blocks, dim=-2).float().cpu().numpy()
    return joined
