"""What the pages that measure losses share: the core's curves of tables, of fresh rows too."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from viz_core.perplexity import Row
from viz_core.series import (
    ORDER,
    TEXTS,
    by_position,
    counts,
    curves,
    label,
    mechanisms,
    name,
    numbers,
    rows_of,
    settings_of,
    style,
    trainings,
    undefined,
)

__all__ = [
    "ORDER",
    "TEXTS",
    "by_position",
    "counts",
    "curves",
    "label",
    "mechanisms",
    "name",
    "numbers",
    "rows_of",
    "settings_of",
    "style",
    "table",
    "trainings",
    "undefined",
]


def table(found: Iterable[Row], checkpoint: str, encoding: str, trained: int) -> pd.DataFrame:
    """Rows that were measured now, in the columns of the shipped tables."""
    frame = pd.DataFrame([vars(row) for row in found]).fillna({"note": ""})
    return frame.assign(checkpoint=checkpoint, encoding=encoding, trained_length=trained)
