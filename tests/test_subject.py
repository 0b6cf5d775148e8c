"""Every number of a map, whatever a layer does: windows, both directions, caps, shared keys,
sinks. All against the dense map in float64."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor

from viz_core import attention, cells, decay, encodings, glance, kernels, log_means, mechanism
from viz_core.encodings import Geometry, PositionEncoding
from viz_core.subject import LayerTrace, Scores, attend, scores
from viz_core.trace import Trace
from viz_core.types import SINK

HEADS, KV, CHANNELS, N = 4, 2, 6, 90
ALL, WHOLE = slice(None), (0, N)


class Lopsided(PositionEncoding):
    """A bias that differs before and after the query, and by head."""

    def bias(self, distance: Tensor) -> Tensor:
        """[head, *distance.shape]."""
        slope = torch.arange(1, HEADS + 1).view(-1, *(1,) * distance.ndim) / 60
        return -slope * torch.where(distance < 0, -2 * distance, distance)


def bias(name: str) -> PositionEncoding:
    geometry = Geometry(HEADS, CHANNELS, HEADS * CHANNELS, 64)
    if name == "lopsided":
        return Lopsided(geometry)
    torch.manual_seed(0)
    return encodings.get(name).make(geometry)


KINDS = {
    "plain": {},
    "window": {"window": 17},
    "narrow": {"window": 3},
    "both": {"causal": False},
    "both-window": {"causal": False, "window": 11},
    "cap": {"cap": 1.5},
    "cap-window": {"cap": 1.5, "window": 20},
    "cap-both": {"cap": 0.8, "causal": False},
}
kinds = pytest.mark.parametrize("kind", KINDS)
biases = pytest.mark.parametrize("name", ["nope", "lopsided"])


def inputs(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """q, k, v [1, head or key head, position, channel] of entries that a cap bends."""
    generator = torch.Generator().manual_seed(3)
    shapes = [(1, heads, N, CHANNELS) for heads in (HEADS, KV, KV)]
    drawn = (torch.randn(s, dtype=torch.float64, generator=generator) for s in shapes)
    q, k, v = (t.to(dtype) for t in drawn)
    return q, k, v


def made(
    kind: str, name: str, dtype: torch.dtype = torch.float64, sink: Tensor | None = None
) -> tuple[Trace, Tensor]:
    """(a trace of one layer, its mixed values)."""
    q, k, v = inputs(dtype)
    how = scores(bias(name), 0.7, N, q, **KINDS[kind])
    mixed, lse = attend(q, k, v, how, sink=sink)
    return Trace((LayerTrace(q[0], k[0], lse[0]),), (how,)), mixed


def dense(kind: str, name: str, sink: Tensor | None = None) -> Tensor:
    """log A [head, query, key], from the definition."""
    q, k, _ = inputs()
    k = k.repeat_interleave(HEADS // KV, dim=1)
    logits = 0.7 * q[0] @ k[0].transpose(-1, -2)
    options = KINDS[kind]
    if cap := options.get("cap"):
        logits = cap * torch.tanh(logits / cap)
    distance = torch.arange(N)[:, None] - torch.arange(N)
    added = bias(name).bias(distance)
    logits = logits if added is None else logits + added
    hidden = (distance < 0) & options.get("causal", True)
    hidden |= distance.abs() >= options.get("window", N)
    logits = logits.masked_fill(hidden, -math.inf)
    extra = logits.new_full((HEADS, N, 1), -math.inf) if sink is None else sink[:, None, None]
    row = torch.cat((logits, extra.expand(HEADS, N, 1)), dim=-1).logsumexp(-1, keepdim=True)
    return logits - row


def cut(full: Tensor, rows: tuple[int, int], columns: tuple[int, int], cell: int, fill: float):
    """The cells of a rectangle: [head, row, column, query in cell, key in cell], `fill` outside."""
    block = full[:, rows[0] : rows[1], columns[0] : columns[1]].numpy()
    pad = [(0, 0), (0, -block.shape[1] % cell), (0, -block.shape[2] % cell)]
    block = np.pad(block, pad, constant_values=fill)
    block = block.reshape(len(block), block.shape[1] // cell, cell, -1, cell)
    return block.swapaxes(2, 3)


@biases
@kinds
@pytest.mark.parametrize("rows", [5, 256])
def test_attention_and_normalisers(
    kind: str, name: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "FUSED_ROWS", rows)
    trace, mixed = made(kind, name)
    full = dense(kind, name)
    v = inputs()[2].repeat_interleave(HEADS // KV, dim=1)
    torch.testing.assert_close(mixed, full.exp() @ v, atol=1e-6, rtol=0)
    found = trace.log_attention(0, WHOLE, WHOLE, ALL)
    torch.testing.assert_close(found, full, atol=1e-6, rtol=0)
    part = trace.log_attention(0, (30, 71), (12, 80), slice(1, 3))
    torch.testing.assert_close(part, full[1:3, 30:71, 12:80], atol=1e-6, rtol=0)


@biases
@kinds
def test_a_sink_takes_its_share(kind: str, name: str) -> None:
    sink = torch.tensor([0.0, 1.0, 2.0, -3.0], dtype=torch.float64)
    trace, mixed = made(kind, name, sink=sink)
    full = dense(kind, name, sink)
    assert float(full.exp().sum(-1).max()) < 1
    torch.testing.assert_close(trace.log_attention(0, WHOLE, WHOLE, ALL), full, atol=1e-6, rtol=0)
    v = inputs()[2].repeat_interleave(HEADS // KV, dim=1)
    torch.testing.assert_close(mixed, full.exp() @ v, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("rows", "columns"), [(WHOLE, WHOLE), ((20, 81), (3, 77)), ((50, 90), (2, 41))], ids=str
)
@biases
@kinds
def test_cells(
    kind: str,
    name: str,
    rows: tuple[int, int],
    columns: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace, _ = made(kind, name, torch.float32)
    full, how = dense(kind, name), trace.scores[0]
    for cell, queries in ((2, 64), (7, 16), (40, 8), (120, 30)):
        monkeypatch.setattr(cells, "QUERIES", (2 * queries, queries))
        block = cut(full, rows, columns, cell, -math.inf)
        with np.errstate(invalid="ignore"):
            sums = np.logaddexp.reduce(block, axis=(-2, -1))
        seen = np.isfinite(block)
        logs = np.where(seen, block, 0.0).sum((-2, -1))
        count = cells.counts(rows, columns, cell, how.window, how.causal).numpy()
        np.testing.assert_array_equal(count, seen[0].sum((-2, -1)))
        for what, expected in (("sum", sums), ("largest", block.max((-2, -1))), ("logs", logs)):
            found = cells.pool(trace, 0, rows, columns, cell, ALL, what).numpy()
            np.testing.assert_allclose(found, expected, atol=3e-5, rtol=2e-6, err_msg=what)
        window = attention.window(trace, 0, rows, columns, math.ceil(90 / cell), slice(1, 4))
        assert window.value.shape[0] == 3


@pytest.mark.parametrize("centred", [False, True])
@biases
@kinds
def test_cell_means_of_logs(kind: str, name: str, centred: bool) -> None:
    trace, _ = made(kind, name)
    full = dense(kind, name)
    level = decay.row_means(trace, 0, SINK) if centred else None
    for rows, columns, cell in ((WHOLE, WHOLE, 7), ((20, 81), (3, 77), 5), (WHOLE, WHOLE, 50)):
        heads = slice(1, 3)
        centre = None if level is None else level[heads]
        found, pairs = log_means.mean_logs(trace, 0, rows, columns, cell, heads, centre)
        logs = full if level is None else full - level[:, :, None]
        block = cut(logs[heads], rows, columns, cell, -math.inf)
        seen = np.isfinite(block)
        np.testing.assert_array_equal(pairs, seen[0].sum((-2, -1)))
        with np.errstate(invalid="ignore"):
            expected = np.where(seen, block, 0.0).sum((-2, -1)) / seen.sum((-2, -1))
        np.testing.assert_allclose(found, expected, atol=2e-5)


@biases
@kinds
def test_row_means(kind: str, name: str) -> None:
    trace, _ = made(kind, name)
    full = dense(kind, name)
    late = full[:, :, SINK:]
    late = late.where(late.isfinite(), torch.nan).nanmean(-1)
    found = decay.row_means(trace, 0, SINK)
    torch.testing.assert_close(found[:, SINK:], late[:, SINK:], atol=1e-6, rtol=0)
    if not trace.scores[0].causal:
        early = late[:, :SINK].isfinite()
        torch.testing.assert_close(found[:, :SINK][early], late[:, :SINK][early], atol=1e-6, rtol=0)


def least_squares(full: Tensor, sink: int, ahead: bool = False) -> npt.NDArray[np.float64]:
    """b(d) of log A = alpha_i + b(d) over keys from `sink` on, on one side: explicit, per head."""
    distance = (torch.arange(N)[:, None] - torch.arange(N)).numpy()
    distance = -distance if ahead else distance
    found = []
    for logs in full.numpy():
        use = np.isfinite(logs) & (distance >= 0)
        use[:, : 0 if ahead else sink] = False
        i, j = np.nonzero(use)
        d = distance[i, j]
        design = np.zeros((len(i), N + d.max() + 1))
        design[np.arange(len(i)), i] = design[np.arange(len(i)), N + d] = 1
        answer = np.linalg.lstsq(design, logs[i, j], rcond=None)[0][N:]
        found.append(answer - answer[0])
    return np.stack(found)


@biases
@kinds
def test_the_fit_is_least_squares(kind: str, name: str) -> None:
    trace, _ = made(kind, name)
    full, how = dense(kind, name), trace.scores[0]
    part = decay.part(trace, 0, SINK)
    np.testing.assert_allclose(part.fit, least_squares(full, SINK), atol=2e-5)
    if how.causal:
        assert part.ahead is None
    else:
        size = part.fit.shape[1]
        expected = least_squares(full, 0, ahead=True)[:, :size]
        np.testing.assert_allclose(part.ahead[:, : expected.shape[1]], expected, atol=2e-5)


@biases
@kinds
def test_slopes_means_and_near_pairs(kind: str, name: str) -> None:
    trace, _ = made(kind, name)
    full = dense(kind, name)
    distance = (torch.arange(N)[:, None] - torch.arange(N)).expand_as(full)
    use = full.isfinite() & (distance >= 0)
    use[:, :, :SINK] = False
    part = decay.part(trace, 0, SINK)
    for h in range(HEADS):
        pull = weight = 0.0
        for i in range(N):
            d = distance[h, i][use[h, i]].double()
            if len(d):
                pull += float(((d - d.mean()) * full[h, i][use[h, i]]).sum())
                weight += float(((d - d.mean()) ** 2).sum())
        assert part.pull[h] == pytest.approx(pull, abs=1e-4)
        assert part.weight == pytest.approx(weight)
    means = decay.mean_probability(trace, 0, sink=SINK)
    near = decay.near(trace, 0, 12, SINK)
    for d in range(means.shape[1]):
        at = use & (distance == d)
        expected = [float(full[h][at[h]].exp().mean()) for h in range(HEADS)]
        np.testing.assert_allclose(means[:, d], expected, rtol=1e-5)
        if d < near.diagonal.shape[1]:
            sums = [float(full[h][at[h]].sum()) for h in range(HEADS)]
            np.testing.assert_allclose(near.diagonal[:, d], sums, rtol=1e-6)
    assert means.shape[1] == near_end(trace.scores[0])


def near_end(how: Scores) -> int:
    """Distances that have a pair of keys from SINK on."""
    return min(N - SINK, how.window or N)


@kinds
def test_a_glance_and_the_mechanism_count_what_is_seen(kind: str) -> None:
    trace, _ = made(kind, "lopsided")
    p = dense(kind, "lopsided").exp()
    distance = (torch.arange(N)[:, None] - torch.arange(N)).abs()
    chosen = np.unique(np.linspace(SINK + 1, N - 1, glance.QUERIES).round().astype(int))
    reaches = []
    for i in chosen.tolist():
        order = distance[i].argsort(stable=True)
        order = order[p[0, i, order] > 0]
        reaches.append([(int((p[h, i, order].cumsum(0) < 0.9).sum()) + 1) for h in range(HEADS)])
    found = glance.rows(trace, 0)
    np.testing.assert_allclose(
        found["reach"], np.sort(reaches, axis=0)[(len(reaches) - 1) // 2], atol=1
    )
    last = mechanism.measure(trace, 20)
    entropy = torch.special.entr(p).sum(-1)[:, -20:].mean(-1)
    np.testing.assert_allclose(last.entropy[0], entropy, atol=1e-5)
    mean = (p * distance).sum(-1)[:, -20:].mean(-1)
    np.testing.assert_allclose(last.mean_distance[0], mean, atol=1e-5)
    np.testing.assert_allclose(last.sink_mass[0], p[:, -20:, :SINK].sum(-1).mean(-1), atol=1e-6)
