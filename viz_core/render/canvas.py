"""Heatmaps for the screen: one message per map that a small canvas script draws and reads out.

Only cells that hold a pair are sent, as float32: half of a causal map, a band of one with a window,
and exact on hover. Nothing in a message grows with the text.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from viz_core.figures.spec import Heatmap, Scale
from viz_core.render import palette
from viz_core.types import Range

WORDS = 6  # tokens of a cell that are read out


def message(panel: Heatmap, labels: Sequence[str], dark: bool = False) -> dict[str, Any]:
    """Everything the script needs, in JSON types; `labels` are the text's tokens, by position, or
    none where they have no names."""
    rows, columns = panel.value.shape
    known = panel.count > 0
    return {
        "title": panel.title,
        "where": panel.where,
        "of": panel.of,
        "accent": palette.letters(panel.accent, dark),
        "rows": list(panel.rows),
        "columns": list(panel.columns),
        "cell": panel.cell,
        "shape": [rows, columns],
        "unit": panel.unit,
        "values": _packed(panel.value[known].astype("<f4")),
        "first": _packed(known.argmax(axis=1).astype("<u4")),  # of each row's cells, which lie in
        "filled": _packed(known.sum(axis=1).astype("<u4")),  # a row, so many
        "pairs": _pairs(panel),
        "row_words": _words(labels, panel.rows, panel.cell),
        "column_words": _words(labels, panel.columns, panel.cell),
        "colours": _packed(palette.table(panel.scale.colours)),
        "low": panel.scale.low,
        "high": panel.scale.high,
        "mark": panel.mark,
        "guides": [{"distance": g.distance, "key": g.key, "label": g.label} for g in panel.guides],
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


def _pairs(panel: Heatmap) -> str:
    """How many pairs cells hold: of "all" queries and keys, of keys not after the query ("causal"),
    or otherwise (""), as at the end of a window."""
    top, left = (
        np.append(np.arange(*span, panel.cell), span[1]) for span in (panel.rows, panel.columns)
    )
    if (panel.count == np.outer(np.diff(top), np.diff(left))).all():
        return "all"
    seen = np.maximum(top[:, None] - left, 0)
    causal = -np.diff(np.diff(seen * (seen + 1) // 2, axis=0), axis=1)
    return "causal" if (panel.count == causal).all() else ""


def _words(labels: Sequence[str], span: Range, cell: int) -> list[str]:
    """The tokens of each cell along an axis, the first few of many; nothing without `labels`."""
    if not labels:
        return []
    first, last = span
    parts = [labels[a : min(a + cell, last)] for a in range(first, last, cell)]
    return ["".join(part[:WORDS]) + "…" * (len(part) > WORDS) for part in parts]


def _packed(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
