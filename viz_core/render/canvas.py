"""Heatmaps for the screen: one message per map that a small canvas script draws and reads out.

Only cells that hold a pair are sent, as float32: half of a causal map, and exact on hover.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from viz_core.figures.spec import Heatmap, Scale
from viz_core.render import palette


def message(panel: Heatmap, labels: Sequence[str], dark: bool = False) -> dict[str, Any]:
    """Everything the script needs, in JSON types; `labels` are the text's tokens, by position."""
    rows, columns = panel.value.shape
    known = panel.count > 0
    return {
        "title": panel.title,
        "accent": palette.accent(panel.accent, dark),
        "rows": list(panel.rows),
        "columns": list(panel.columns),
        "cell": panel.cell,
        "shape": [rows, columns],
        "unit": panel.unit,
        "values": _packed(panel.value[known].astype("<f4")),
        "filled": _packed(known.sum(axis=1).astype("<u4")),  # a row's first so many cells
        "labels": list(labels),
        "colours": _packed(palette.table(panel.scale.colours)),
        "low": panel.scale.low,
        "high": panel.scale.high,
        "mark": panel.mark,
    }


def bar(scale: Scale) -> dict[str, Any]:
    """The colour bar: colours, limits, label and ticks."""
    return {
        "colours": _packed(palette.table(scale.colours)),
        "low": scale.low,
        "high": scale.high,
        "label": scale.label,
        "ticks": [list(t) for t in scale.ticks],
    }


def _packed(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
