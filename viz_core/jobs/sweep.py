"""Running a plan: what the store has is found, what is missing is computed, nothing twice."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from viz_core.errors import AtlasError
from viz_core.jobs import inline, local, slurm
from viz_core.jobs.cell import Cell, Outcome, Outcomes, Tick
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work
from viz_core.progress import Progress, ignore
from viz_core.store import Store

Executor = Callable[[Sequence[Cell], Work, Tick], Outcomes]


@dataclass(frozen=True)
class Result:
    """A cell and what came of it."""

    cell: Cell
    outcome: Outcome


def look(cells: Sequence[Cell], store: Store) -> list[Result]:
    """What there is of `cells` now, while another process may still be at it: computes nothing."""
    return [Result(cell, _known(cell, store)) for cell in cells]


def run(
    cells: Sequence[Cell], work: Work, limits: Limits, progress: Progress = ignore
) -> list[Result]:
    """Computes the cells that the store hasn't, each key once, and says what came of all of them.

    `progress` hears the share of cells that are done, every moment of a wait, and may raise, to
    cancel: what was computed stays in the store. Raises AtlasError, before any work, where the
    store can't be written or the executor isn't there.
    """
    store = work.store()
    known = [_known(cell, store) for cell in cells]
    todo = {
        cell.key.digest: cell
        for cell, outcome in zip(cells, known, strict=True)
        if outcome.status == "missing" and cell.key
    }
    came, total = dict[str, Outcome](), len(cells) or 1
    settled = sum(outcome.status != "missing" for outcome in known)

    def tick() -> None:
        here = sum(o.digest in came for o in known if o.status == "missing")
        progress((settled + here) / total)

    tick()
    if todo:
        _check_writable(store)
        with closing(_executor(limits)(list(todo.values()), work, tick)) as outcomes:
            for outcome in outcomes:
                came[outcome.digest] = _checked(outcome, todo[outcome.digest], store)
                tick()
    return [
        Result(cell, came.get(outcome.digest, outcome))
        for cell, outcome in zip(cells, known, strict=True)
    ]


def _known(cell: Cell, store: Store) -> Outcome:
    if cell.key is None:
        return Outcome("", "undefined" if cell.undefined else "failed", cell.obstacle)
    there = store.get(cell.key) is not None
    return Outcome(cell.key.digest, "found" if there else "missing")


def _checked(outcome: Outcome, cell: Cell, store: Store) -> Outcome:
    """A worker may be lost after it has written its result, and a result is what counts."""
    if outcome.status == "failed" and cell.key and store.get(cell.key) is not None:
        return replace(outcome, status="computed", reason="")
    return outcome


def _check_writable(store: Store) -> None:
    try:
        store.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=store.folder):
            pass
    except OSError as error:
        raise AtlasError(
            f"Expected a store that can be written in {store.folder}, where workers leave their "
            f"results; it can't be ({error.strerror}), so let ATLAS_STORE name another folder."
        ) from None


def _executor(limits: Limits) -> Executor:
    if limits.kind == "inline":
        return inline.run
    if limits.kind == "local":
        return partial(local.run, workers=limits.workers)
    return partial(slurm.run, limits=limits)
