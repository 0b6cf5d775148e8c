"""The message of a map: only cells that hold pairs, wherever in their row they lie."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

from viz_core import cells
from viz_core.figures.spec import Heatmap, Scale
from viz_core.render import canvas

ROWS, COLUMNS, CELL = (16, 48), (8, 40), 4
SCALE = Scale("cividis", -4.0, 0.0, "A", ())


def panel(window: int | None, causal: bool) -> Heatmap:
    count = cells.counts(ROWS, COLUMNS, CELL, window, causal).numpy()
    value = np.random.default_rng(0).normal(size=count.shape).astype(np.float32)
    value = np.where(count > 0, value, np.nan)
    return Heatmap("a map", "rope", value, count, ROWS, COLUMNS, CELL, "log10 A", SCALE, 0, "", "A")


def read(message: dict[str, Any]) -> np.ndarray:
    """The cells as the script places them, NaN where there are none."""

    def unpacked(name: str, kind: str) -> np.ndarray:
        return np.frombuffer(base64.b64decode(message[name]), kind)

    out, values = np.full(message["shape"], np.nan), unpacked("values", "<f4")
    for row, first, size in zip(
        out, unpacked("first", "<u4"), unpacked("filled", "<u4"), strict=True
    ):
        row[first : first + size], values = values[:size], values[size:]
    assert not len(values)
    return out


@pytest.mark.parametrize(
    ("window", "causal", "pairs"),
    [(None, True, "causal"), (12, True, ""), (None, False, "all"), (12, False, "")],
)
def test_cells_come_back_in_their_places(window: int | None, causal: bool, pairs: str) -> None:
    shown = panel(window, causal)
    message = canvas.message(shown, [])
    np.testing.assert_array_equal(read(message), shown.value.astype(np.float32))
    assert message["pairs"] == pairs
