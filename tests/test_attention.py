"""Windows of the map against dense float64 softmax: values, counts, ranges, means over texts."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
import torch

from viz_core import attention, decay, kernels
from viz_core import trace as traces
from viz_core.encodings import Value, all_encodings
from viz_core.encodings._scalings import SCALINGS
from viz_core.errors import LengthError
from viz_core.model import ModelConfig, Transformer
from viz_core.trace import Trace
from viz_core.types import Range, Window

LAYERS, HEADS, WIDTH, VOCABULARY, LAYER = 2, 4, 32, 50, 1
VARIANTS: dict[str, tuple[str, dict[str, Value]]] = {
    **{name: (name, {}) for name in all_encodings()},
    **{f"rope {s}": ("rope", {"scaling": s, "factor": 4.0}) for s in SCALINGS},
}
each_variant = pytest.mark.parametrize("variant", VARIANTS)
Array = npt.NDArray[np.float64]


def traced(variant: str, length: int, seed: int = 1) -> tuple[Trace, Array]:
    """A float32 trace, and log A of its last layer by a dense softmax of a float64 copy."""
    encoding, parameters = VARIANTS[variant]
    torch.manual_seed(0)
    trained = 128 if variant == "learned" else 64
    made = Transformer(
        ModelConfig(encoding, LAYERS, HEADS, WIDTH, VOCABULARY, trained, parameters=parameters)
    )
    made.eval().requires_grad_(False).embedding.weight.mul_(10)
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(VOCABULARY, (length,), generator=generator)
    wide = copy.deepcopy(made).double()
    layer = wide(ids[None]).layers[LAYER]
    distance = torch.arange(length)[:, None] - torch.arange(length)
    logits = wide.config.scale * layer.q[0] @ layer.k[0].transpose(-1, -2)
    bias = wide.encoding.bias(distance.clamp(min=0))
    logits = logits if bias is None else logits + bias
    logits = logits.masked_fill(distance < 0, float("-inf"))
    return traces.trace(made, ids.tolist()), logits.log_softmax(-1).numpy()


def pooled(full: Array, rows: Range, columns: Range, cell: int) -> tuple[Array, Array]:
    """Means of `full` [head, query, key] over the causal pairs of each cell, and their counts."""
    out, count = [], []
    for a in range(*rows, cell):
        for c in range(*columns, cell):
            i, j = np.mgrid[a : min(a + cell, rows[1]), c : min(c + cell, columns[1])]
            i, j = i[j <= i], j[j <= i]
            count.append(len(i))
            out.append(full[:, i, j].mean(-1) if len(i) else np.full(len(full), np.nan))
    shape = (-(-(rows[1] - rows[0]) // cell), -(-(columns[1] - columns[0]) // cell))
    return np.stack(out, 1).reshape(len(full), *shape), np.array(count).reshape(shape)


def centred(full: Array, sink: int) -> Array:
    """Each row less its mean over keys from `sink` on (all its keys, where it sees none)."""
    first = [sink if i >= sink else 0 for i in range(full.shape[1])]
    means = [full[:, i, a : i + 1].mean(-1) for i, a in enumerate(first)]
    return full - np.stack(means, 1)[:, :, None]


@pytest.mark.parametrize("length", [2, 37, 101])
@each_variant
def test_a_window_that_fits_is_exact_token_by_token(variant: str, length: int) -> None:
    trace, full = traced(variant, length)
    window = attention.window(trace, LAYER, pixels=length)
    assert window.cell == 1 and window.value.shape == (HEADS, length, length)
    assert window.value.dtype == np.float32
    assert np.abs(np.exp(window.value) - np.exp(full)).max() < 1e-5
    assert (window.count == np.tri(length)).all()
    assert (np.isneginf(window.value) == np.isneginf(full)).all()


RANGES: list[tuple[Range | None, Range | None, int]] = [
    (None, None, 10),
    (None, None, 1),
    ((3, 101), (2, 98), 9),
    ((50, 53), (0, 101), 7),
    ((10, 90), (80, 81), 5),
    ((5, 20), (60, 99), 4),  # all of it in the future
]


@pytest.mark.parametrize("cells", [1, kernels.BLOCK_CELLS], ids=["small tiles", "large ones"])
@pytest.mark.parametrize(("rows", "columns", "pixels"), RANGES)
@each_variant
def test_cells_are_dense_means_with_their_counts(
    variant: str,
    rows: Range | None,
    columns: Range | None,
    pixels: int,
    cells: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "BLOCK_CELLS", cells)
    trace, full = traced(variant, 101)
    a, b = rows or (0, 101), columns or (0, 101)
    window = attention.window(trace, LAYER, rows, columns, pixels)
    assert (window.rows, window.columns, window.kind) == (a, b, "probability")
    assert max(window.count.shape) <= pixels
    value, count = pooled(np.exp(full), a, b, window.cell)
    assert (window.count == count).all()
    assert np.abs(np.exp(window.value) - np.nan_to_num(value)).max() < 1e-5
    assert (np.isneginf(window.value) == (count == 0)).all()
    for centre in (False, True):
        logs = attention.log_window(trace, LAYER, rows, columns, pixels, centred=centre)
        value, _ = pooled(centred(full, decay.SINK) if centre else full, a, b, window.cell)
        assert logs.kind == ("centred" if centre else "log") and (logs.count == count).all()
        np.testing.assert_allclose(logs.value, value, atol=2e-5, rtol=1e-5)  # NaN where none


def test_a_window_of_some_heads_and_rows_is_cut_from_the_whole() -> None:
    trace, _ = traced("t5", 60)
    whole = attention.window(trace, LAYER, pixels=60)
    part = attention.window(trace, LAYER, (20, 50), (10, 40), 30, slice(1, 3))
    np.testing.assert_allclose(part.value, whole.value[1:3, 20:50, 10:40], atol=1e-5)
    assert (part.count == whole.count[20:50, 10:40]).all()


@pytest.mark.parametrize("pixels", [1, 10, 101])
@each_variant
def test_rows_sum_to_1(variant: str, pixels: int) -> None:
    trace, _ = traced(variant, 101)
    sums = attention.row_sums(attention.window(trace, LAYER, pixels=pixels))
    assert np.abs(sums - 1).max() < 1e-5


@pytest.mark.parametrize("pixels", [7, 31])
@pytest.mark.parametrize("kind", ["probability", "log", "centred"])
def test_results_do_not_depend_on_the_size_of_blocks(
    kind: str, pixels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, _ = traced("alibi", 101)

    def taken(cells: int) -> Window:
        monkeypatch.setattr(kernels, "BLOCK_CELLS", cells)
        if kind == "probability":
            return attention.window(trace, LAYER, pixels=pixels)
        return attention.log_window(trace, LAYER, pixels=pixels, centred=kind == "centred")

    first = taken(1)
    for cells in (1 << 11, 1 << 13, 1 << 20):
        other = taken(cells)
        np.testing.assert_allclose(first.value, other.value, atol=1e-5)
        assert (first.count == other.count).all()


@pytest.mark.parametrize("sink", [1, 4, 9])
@each_variant
def test_row_means_are_means_of_dense_log_attention(variant: str, sink: int) -> None:
    trace, full = traced(variant, 37)
    means = decay.row_means(trace, LAYER, sink).numpy()
    last = full[:, :, 0] - centred(full, sink)[:, :, 0]  # what centring took from each row
    np.testing.assert_allclose(means, last, atol=1e-5)


def test_coarser_cells_are_those_of_a_coarser_window() -> None:
    trace, _ = traced("rope", 101)
    for fine, coarse in (
        (attention.window(trace, LAYER, pixels=101), attention.window(trace, LAYER, pixels=26)),
        (
            attention.log_window(trace, LAYER, pixels=51),
            attention.log_window(trace, LAYER, pixels=26),
        ),
    ):
        made = attention.coarser(fine, coarse.cell // fine.cell)
        np.testing.assert_allclose(made.value, coarse.value, atol=1e-5)
        assert (made.count == coarse.count).all() and made.cell == coarse.cell == 4


def test_the_mean_over_texts_is_that_of_their_logs() -> None:
    pairs = [traced("alibi", 40, seed) for seed in (1, 2, 3)]
    mean = attention.mean([attention.log_window(t, LAYER, pixels=40) for t, _ in pairs])
    expected = np.mean([full for _, full in pairs], axis=0)
    seen = np.tri(40, dtype=bool)
    assert mean.texts == 3 and mean.kind == "log" and mean.value.dtype == np.float32
    np.testing.assert_allclose(mean.value[:, seen], expected[:, seen], atol=2e-5)
    assert np.isnan(mean.value[:, ~seen]).all()


def test_windows_that_do_not_match_have_no_mean() -> None:
    trace, _ = traced("nope", 40)
    one = attention.log_window(trace, LAYER, pixels=10)
    probability = attention.window(trace, LAYER, pixels=10)
    others = [
        probability,
        attention.log_window(trace, LAYER, pixels=10, centred=True),
        attention.log_window(trace, LAYER, pixels=20),
        attention.log_window(trace, LAYER, heads=slice(1), pixels=10),
        replace(one, rows=(1, 41)),
        replace(one, columns=(1, 41)),
    ]
    for other in others:
        with pytest.raises(ValueError, match="log-attention over the same tokens"):
            attention.mean([one, other])
    with pytest.raises(ValueError, match="log-attention"):
        attention.mean([probability, probability])


@pytest.mark.parametrize("bad", [(5, 5), (6, 5), (-1, 5), (0, 41), (40, 41)])
@pytest.mark.parametrize("name", ["rows", "columns"])
def test_empty_ranges_and_those_outside_the_text_are_refused(name: str, bad: Range) -> None:
    trace, _ = traced("nope", 40)
    for act in (attention.window, attention.log_window):
        with pytest.raises(LengthError, match=f"{name} between 0 and 40"):
            act(trace, LAYER, **{name: bad})  # type: ignore[arg-type]


@pytest.mark.parametrize("pixels", [0, -3])
def test_a_window_has_at_least_one_pixel(pixels: int) -> None:
    trace, _ = traced("nope", 40)
    with pytest.raises(LengthError, match="at least 1 pixel"):
        attention.window(trace, LAYER, pixels=pixels)
