"""What there is of a sweep now: its cells, what came of each, and the rows of those that are there.

Planned again only when the spec or a checkpoint has changed; a result that was read once is read no
more. Nothing is computed for it: that is for `python -m viz_core sweep`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from pages._shared import keeping
from pages._shared.shelf import Shelf
from viz_core import words
from viz_core.jobs import news, planning, spec, sweep, tables
from viz_core.jobs.cell import Cell, Outcome
from viz_core.jobs.sweep import Result
from viz_core.store import Store

THERE = ("found", "computed")
RUNNING = "running"  # a cell that isn't there, and that some process is at
ORDER = ("found", RUNNING, "missing", "failed", "undefined")  # of all lists
ROW = 4096  # bytes of a row in memory, about

Rows = Sequence[Mapping[str, Any]]
_rows: Shelf[Rows] = Shelf(64 << 20)
_planning = threading.Lock()  # one at a time: several visitors would hash the same files


@dataclass(frozen=True)
class Seen:
    """Every cell of a sweep with what came of it, and digests of those that some process is at."""

    results: tuple[Result, ...]
    awaited: frozenset[str]

    def status(self, result: Result) -> str:
        """One of ORDER."""
        outcome = result.outcome
        if outcome.status == "missing" and outcome.digest in self.awaited:
            return RUNNING
        return "found" if outcome.status in THERE else outcome.status

    @property
    def counts(self) -> dict[str, int]:
        """How many cells have each status, in ORDER, without those that none has."""
        every = [self.status(result) for result in self.results]
        return {status: every.count(status) for status in ORDER if status in every}


def see(path: Path) -> Seen:
    """What there is of the sweep at `path` now. Raises AtlasError where it can't be planned."""
    cells, store = _plan(path), keeping.store()
    there = {cell for cell in cells if cell.key is not None and _rows.get(_of(cell)) is not None}
    looked = {r.cell: r for r in sweep.look([c for c in cells if c not in there], store)}
    found = (looked.get(cell) or _there(cell) for cell in cells)
    return Seen(tuple(found), news.heard(store.folder).awaited)


def table(seen: Seen) -> pd.DataFrame:
    """The table of what there is, as `tables.table`."""
    store = keeping.store()
    return tables.framed([row for result in seen.results for row in _read(result, store)])


def _plan(path: Path) -> tuple[Cell, ...]:
    with _planning:
        asked = spec.read(path)
        changed = path.stat().st_mtime_ns
        return _planned(path, changed, planning.marks(asked), words.language())


@lru_cache(maxsize=8)
def _planned(
    path: Path, changed: int, marks: tuple[tuple[str, int, int], ...], language: str
) -> tuple[Cell, ...]:
    """`language`: cells that can't be say why."""
    return tuple(planning.plan(spec.read(path)))


def _there(cell: Cell) -> Result:
    """A cell whose rows were read before."""
    assert cell.key is not None
    return Result(cell, Outcome(cell.key.digest, "found"))


def _read(result: Result, store: Store) -> Rows:
    found = _rows.get(_of(result.cell)) if result.cell.key else None
    if found is None:
        found = tables.rows(result, store)
        if found[0]["status"] in THERE:
            _rows.put(_of(result.cell), found, ROW * len(found))
    return found


def _of(cell: Cell) -> tuple[str, str, str]:
    """What the rows of a cell follow from: decay and signatures share a result."""
    assert cell.key is not None
    return cell.key.digest, cell.checkpoint, cell.measurement
