"""Windows of the attention map, out of a trace: exact, blocked, at most P x P cells out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from viz_core import cells, decay, log_means
from viz_core.errors import LengthError
from viz_core.progress import Progress, ignore
from viz_core.trace import Trace
from viz_core.types import SINK, Kind, Pooling, Range, Window
from viz_core.words import mark, say


def place(
    length: int, rows: Range | None, columns: Range | None, pixels: int
) -> tuple[Range, Range, int]:
    """(queries, keys, tokens on a side of a cell) of a window of a text of `length` tokens.

    The cells are the smallest that keep both sides within `pixels`. Raises LengthError for no
    pixel, an empty range or one outside the text.
    """
    if pixels < 1:
        raise LengthError(say("Expected at least 1 pixel; got {pixels}.", pixels=pixels))
    sides = ((mark("rows"), rows or (0, length)), (mark("columns"), columns or (0, length)))
    for name, (a, b) in sides:
        if not 0 <= a < b <= length:
            raise LengthError(
                say(
                    "Expected {name} between 0 and {length:,} with the first below the last; got "
                    "{first:,} to {last:,}.",
                    name=say(name),
                    length=length,
                    first=a,
                    last=b,
                )
            )
    rows, columns = rows or (0, length), columns or (0, length)
    return rows, columns, math.ceil(max(rows[1] - rows[0], columns[1] - columns[0]) / pixels)


def window(
    trace: Trace,
    layer: int,
    rows: Range | None = None,
    columns: Range | None = None,
    pixels: int = 512,
    heads: slice = slice(None),
    pooling: Pooling = "mean",
    progress: Progress = ignore,
) -> Window:
    """The log of each cell's mean probability, or of its largest one (`pooling` "max").

    `rows`, `columns` default to the whole map; cells are single tokens where the range allows.
    `progress` may raise, to cancel. Raises LengthError as `place` does.
    """
    rows, columns, cell = place(trace.length, rows, columns, pixels)
    how = trace.scores[layer]
    count = cells.counts(rows, columns, cell, how.window, how.causal)
    if cell == 1:
        value = trace.log_attention(layer, rows, columns, heads)
    else:
        what: cells.Reduction = "largest" if pooling == "max" else "sum"
        value = cells.pool(trace, layer, rows, columns, cell, heads, what, progress)
        if pooling == "mean":
            value -= count.to(value).clamp(min=1).log()  # without a pair it stays -inf
    return Window(_array(value), count.numpy(), rows, columns, cell, pooling=pooling)


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
    rows, columns, cell = place(trace.length, rows, columns, pixels)
    centre = decay.row_means(trace, layer, sink)[heads] if centred else None
    value, count = log_means.mean_logs(trace, layer, rows, columns, cell, heads, centre)
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
    """The same rectangle in cells `factor` times as wide: means of the cells, weighted by pairs
    (the largest of the cells, where pooling was by "max")."""
    rows, columns = window.count.shape
    pad = ((0, -rows % factor), (0, -columns % factor))

    def cells_of(x: npt.NDArray[Any], fill: float) -> npt.NDArray[Any]:
        """x [..., row, column] as [..., row, row within, column, column within]."""
        x = np.pad(x, ((0, 0),) * (x.ndim - 2) + pad, constant_values=fill)
        shape = (*x.shape[:-2], x.shape[-2] // factor, factor, x.shape[-1] // factor, factor)
        return x.reshape(shape)

    count = cells_of(window.count, 0).sum(axis=(-3, -1))
    logs = window.kind == "probability"
    if window.pooling == "max":
        value = cells_of(window.value, -np.inf).max(axis=(-3, -1))
    else:
        linear = np.exp(window.value.astype(np.float64)) if logs else window.value
        total = cells_of(np.where(window.count > 0, linear * window.count, 0.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = total.sum(axis=(-3, -1)) / count
            value = np.where(count > 0, np.log(value), -np.inf) if logs else value
    return replace(window, value=value.astype(np.float32), count=count, cell=window.cell * factor)


def row_sums(window: Window) -> npt.NDArray[np.float64]:
    """Probability that each row of cells holds, per query: [head, row]; 1 for a whole map."""
    mass = np.exp(window.value.astype(np.float64)) * window.count
    first, last = window.rows
    queries = np.minimum(window.cell, last - np.arange(first, last, window.cell))
    summed: npt.NDArray[np.float64] = np.nansum(mass, axis=-1) / queries
    return summed


def _array(value: Tensor) -> npt.NDArray[np.float32]:
    array: npt.NDArray[np.float32] = value.float().cpu().numpy()
    return array
