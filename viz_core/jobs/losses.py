"""Rows of losses as arrays and words for the store, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from viz_core.packing import Packed
from viz_core.perplexity import Row
from viz_core.store import Entry

_WORDS = ("setting", "protocol", "source", "note")
_COUNTS = ("length", "first", "last", "tokens", "documents")


def pack(rows: Sequence[Row]) -> Packed:
    """(arrays, words): a number or NaN per row, and the words of each."""
    columns = [asdict(row) for row in rows]
    numbers = [f.name for f in fields(Row) if f.name not in _WORDS]
    arrays = {n: np.array([_number(row[n]) for row in columns]) for n in numbers}
    return arrays, {name: json.dumps([row[name] for row in columns]) for name in _WORDS}


def unpack(entry: Entry) -> list[Row]:
    """The rows that were packed. Raises KeyError where something is missing."""
    columns: dict[str, list[Any]] = {name: json.loads(entry.about[name]) for name in _WORDS}
    for name, values in entry.arrays.items():
        kind = int if name in _COUNTS else float
        columns[name] = [None if np.isnan(value) else kind(value) for value in values]
    rows = zip(*columns.values(), strict=True)
    return [Row(**dict(zip(columns, row, strict=True))) for row in rows]


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
