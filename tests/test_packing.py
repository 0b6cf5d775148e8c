"""What the store keeps of surveys and windows is all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from viz_core import packing
from viz_core.model import ModelConfig, Transformer
from viz_core.store import RunKey, Store
from viz_core.survey import Survey, survey, zoom
from viz_core.trace import trace
from viz_core.types import Kind, Pooling, Window

TEXTS = [[(7 * i + 3 * t) % 50 for i in range(40)] for t in range(3)]
KEY = RunKey("c", "", ("t",), 40, "float32", "survey")


def made(encoding: str) -> Transformer:
    torch.manual_seed(0)
    return Transformer(ModelConfig(encoding, 2, 3, 24, 50, 64)).eval().requires_grad_(False)


def alike(one: Window, other: Window) -> bool:
    words = ("rows", "columns", "cell", "kind", "texts", "pooling")
    same = all(getattr(one, name) == getattr(other, name) for name in words)
    arrays = zip((one.value, one.count), (other.value, other.count), strict=True)
    return same and all(np.array_equal(a, b, equal_nan=True) for a, b in arrays)


@pytest.mark.parametrize("encoding", ["rope", "alibi", "learned"])
@pytest.mark.parametrize(
    ("kind", "pooling"), [("log", "mean"), ("centred", "mean"), ("probability", "max")]
)
def test_a_survey_comes_back_whole(
    encoding: str, kind: Kind, pooling: Pooling, tmp_path: Path
) -> None:
    model = made(encoding)
    put = survey(lambda ids, progress: trace(model, ids), TEXTS, kind, 8, pooling)
    store = Store(tmp_path, 1 << 24)
    assert store.put(KEY, *packing.pack(put))
    entry = store.get(KEY)
    assert entry is not None
    got: Survey = packing.unpack(entry)
    assert all(alike(*pair) for pair in zip(put.windows, got.windows, strict=True))
    assert len(put.curves) == len(got.curves) == len(got.laws) == 2
    for a, b in zip(put.curves, got.curves, strict=True):
        assert (a.texts, a.sink) == (b.texts, b.sink)
        for name in ("value", "error", "pairs"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for one, other in zip(put.laws, got.laws, strict=True):
        assert (one is None) == (other is None) == (encoding == "learned")
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(put.slopes, got.slopes)
    assert set(got.statistics) == {"reach", "sink", "entropy", "ripple"}
    for name, value in put.statistics.items():
        np.testing.assert_array_equal(value, got.statistics[name])


@pytest.mark.parametrize("kind", ["log", "probability"])
def test_a_part_of_a_map_comes_back_whole(kind: Kind, tmp_path: Path) -> None:
    model = made("t5")
    window = zoom(lambda ids, progress: trace(model, ids), TEXTS, kind, (1, 2), (8, 40), (0, 16), 9)
    assert window.value.shape == (1, 8, 4) and window.cell == 4
    store = Store(tmp_path, 1 << 24)
    assert store.put(KEY, *packing.pack_window(window))
    entry = store.get(KEY)
    assert entry is not None and alike(packing.unpack_window(entry), window)
