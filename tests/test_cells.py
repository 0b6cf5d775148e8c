"""Cells of the map, in tiles, against every pair in float64; pooling by zoom level; cancelling."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import torch

from viz_core import attention, cells, kernels
from viz_core.encodings import Geometry, get
from viz_core.subject import LayerTrace
from viz_core.trace import Trace
from viz_core.types import Range

N, HEADS, CHANNELS = 203, 3, 16
ALL = slice(None)
WHOLE = (0, N)


def made(
    encoding: str, spread: float = 1.0, n: int = N, dtype: torch.dtype = torch.float32
) -> Trace:
    """One layer of random queries and keys, whose logits have about `spread` nats."""
    generator = torch.Generator().manual_seed(3)
    q, k = spread**0.5 * torch.randn(2, HEADS, n, CHANNELS, generator=generator)
    module = get(encoding).make(Geometry(HEADS, CHANNELS, HEADS * CHANNELS, 64))
    module.requires_grad_(False)
    wide = module.double() if encoding == "t5" else module
    strip = kernels.band(wide, n, torch.zeros((), dtype=torch.float64))
    _, lse = kernels.blocked(q.double(), k.double(), k.double(), strip, CHANNELS**-0.5)
    layer = LayerTrace(*(t.to(dtype) for t in (q, k, lse)))
    return Trace.alike([layer], module.to(dtype), CHANNELS**-0.5)


def dense(trace: Trace) -> npt.NDArray[np.float64]:
    """log A [head, query, key] in float64, without blocks."""
    q, k, _ = (t.double() for t in trace.layers[0])
    n = trace.length
    logits = trace.scores[0].scale * q @ k.transpose(-1, -2)
    logits += kernels.cut(trace.strip(0).double(), (0, n), (0, n))
    return logits.log_softmax(-1).numpy()


def reduced(full: npt.NDArray[np.float64], rows: Range, columns: Range, cell: int, largest: bool):
    block = full[:, rows[0] : rows[1], columns[0] : columns[1]]
    pad = [(0, 0), (0, -block.shape[1] % cell), (0, -block.shape[2] % cell)]
    block = np.pad(block, pad, constant_values=-np.inf)
    block = block.reshape(len(block), block.shape[1] // cell, cell, -1, cell)
    return block.max((2, 4)) if largest else np.logaddexp.reduce(block, axis=(2, 4))


@pytest.mark.parametrize("largest", [False, True], ids=["sum", "largest"])
@pytest.mark.parametrize(("queries", "tile"), [(64, 1 << 19), (8, 1), (50, 300), (7, 64)], ids=str)
@pytest.mark.parametrize(
    ("rows", "columns"), [(WHOLE, WHOLE), ((20, 201), (3, 99)), ((5, 40), (60, 99))], ids=str
)
@pytest.mark.parametrize("encoding", ["alibi", "t5", "nope"])
def test_cells_of_any_tiling_equal_the_dense_map(
    encoding: str,
    rows: Range,
    columns: Range,
    queries: int,
    tile: int,
    largest: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cells, "QUERIES", (4 * queries, queries))
    monkeypatch.setattr(kernels, "BLOCK_CELLS", tile)
    trace = made(encoding)
    full = dense(trace)
    for cell in (2, 9, 100, 400):
        what = "largest" if largest else "sum"
        found = cells.pool(trace, 0, rows, columns, cell, ALL, what).numpy()
        np.testing.assert_allclose(
            found, reduced(full, rows, columns, cell, largest), atol=2e-5, rtol=2e-7
        )


def test_some_heads_are_those_of_all() -> None:
    trace = made("alibi")
    every = cells.pool(trace, 0, WHOLE, WHOLE, 5, ALL)
    torch.testing.assert_close(cells.pool(trace, 0, WHOLE, WHOLE, 5, slice(1, 2)), every[1:2])


def test_counts_are_those_of_a_triangle() -> None:
    triangle = np.where(np.tri(N) > 0, 0.0, -np.inf)[None]
    for rows, columns in ((WHOLE, WHOLE), ((20, 201), (3, 99)), ((5, 40), (60, 99))):
        for cell in (1, 9, 400):
            expected = np.exp(reduced(triangle, rows, columns, cell, largest=False))[0]
            found = cells.counts(rows, columns, cell).numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_far_cells_of_a_steep_head_keep_their_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """ALiBi at distance 4,000 with slope 1/16: e^-240 and less, which float32 has no number for.

    The anchors see to it: the slower way by logs isn't needed.
    """
    monkeypatch.delattr(cells, "_added_in_logs")
    trace = made("alibi", n=4096)
    found = cells.pool(trace, 0, (4000, 4096), (0, 4000), 8, slice(0, 1)).numpy()
    expected = dense(trace)[:1]
    far = reduced(expected, (4000, 4096), (0, 4000), 8, largest=False)
    assert far.min() < -240
    np.testing.assert_allclose(found, far, rtol=2e-6, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sums_that_float32_cannot_hold_are_taken_in_logs(
    dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logits of hundreds of nats without a bias: whole cells lie below e^-150."""
    taken = []
    plain = cells._added_in_logs
    monkeypatch.setattr(cells, "_added_in_logs", lambda y: taken.append(1) or plain(y))
    trace = made("nope", spread=100.0, dtype=dtype)
    found = cells.pool(trace, 0, WHOLE, WHOLE, 4, ALL).numpy()
    expected = reduced(dense(trace), WHOLE, WHOLE, 4, largest=False)
    assert expected[np.isfinite(expected)].min() < -150 and taken
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("encoding", ["alibi", "t5", "nope"])
@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_a_coarse_cell_is_the_mean_or_the_largest_of_the_fine_ones(
    encoding: str, pooling: str
) -> None:
    """From the whole map down to single tokens, each level against the one below it."""
    trace = made(encoding, n=512)
    for rows, columns in ((0, 512), (0, 512)), ((256, 512), (128, 384)), ((320, 384), (0, 64)):
        coarse = attention.window(trace, 0, rows, columns, pixels=16, pooling=pooling)
        while coarse.cell > 1:
            pixels = (rows[1] - rows[0]) // (coarse.cell // 2)
            fine = attention.window(trace, 0, rows, columns, pixels=pixels, pooling=pooling)
            assert fine.cell == coarse.cell // 2
            again = attention.coarser(fine, 2)
            assert (again.count == coarse.count).all()
            np.testing.assert_allclose(again.value, coarse.value, atol=3e-6, rtol=3e-7)
            coarse = fine


def test_progress_rises_to_1_and_can_cancel() -> None:
    trace, seen = made("rope"), list[float]()
    cells.pool(trace, 0, (20, 201), (3, 99), 5, ALL, progress=seen.append)
    assert seen == sorted(seen) and seen[0] > 0 and math.isclose(seen[-1], 1.0)

    def stop(done: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        cells.pool(trace, 0, WHOLE, WHOLE, 5, ALL, progress=stop)


def test_spans_cover_each_token_once_and_hold_whole_cells_or_lie_in_one() -> None:
    for first, last, cell, most in ((0, 100, 7, 30), (3, 50, 40, 16), (5, 6, 1, 1), (0, 64, 8, 64)):
        found = list(cells.spans((first, last), cell, most))
        assert [t for a, b in found for t in range(a, b)] == list(range(first, last))
        for a, b in found:
            assert b - a <= most
            whole = (b - a) % cell == 0 and (a - first) % cell == 0
            assert whole or (a - first) // cell == (b - 1 - first) // cell


@pytest.mark.parametrize("encoding", ["alibi", "t5", "rope"])
def test_a_long_map_is_within_1e_5_of_the_dense_one(encoding: str) -> None:
    """Above a thousand tokens tiles are full-sized, and rows of cells begin within a tile."""
    trace = made(encoding, spread=2.0, n=1500)
    full = dense(trace)
    for pixels in (512, 100, 37):
        cell = math.ceil(1500 / pixels)
        found = cells.pool(trace, 0, (0, 1500), (0, 1500), cell, ALL)
        count = cells.counts((0, 1500), (0, 1500), cell).numpy()
        total = np.exp(reduced(full, (0, 1500), (0, 1500), cell, largest=False))
        mean = np.exp(found.double().numpy()) / np.maximum(count, 1)
        assert np.abs(mean - total / np.maximum(count, 1)).max() < 1e-5
