"""Running a plan: what the store has is found, what is missing is computed, nothing twice."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from viz_core.errors import AtlasError
from viz_core.jobs import inline, local, news, slurm
from viz_core.jobs.cell import Cell, Outcome, Outcomes, Tick
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work
from viz_core.progress import Progress, ignore
from viz_core.store import Store
from viz_core.words import say

Executor = Callable[[Sequence[Cell], Work, Tick], Outcomes]


@dataclass(frozen=True)
class Result:
    """A cell and what came of it."""

    cell: Cell
    outcome: Outcome


def look(cells: Sequence[Cell], store: Store) -> list[Result]:
    """What there is of `cells` now, while another process may still be at it: computes nothing.

    What a run has tried in vain has failed; what none has is missing.
    """
    told = news.heard(store.folder).failed
    return [Result(cell, _told(_known(cell, store), told)) for cell in cells]


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
    teller: news.Teller | None = None

    def tick() -> None:
        if teller is not None:
            teller.beat()
        here = sum(o.digest in came for o in known if o.status == "missing")
        progress((settled + here) / total)

    tick()
    if todo:
        _check_writable(store)
        teller = news.Teller(store.folder, todo)
        with (
            closing(teller),
            closing(_executor(limits)(list(todo.values()), work, tick)) as outcomes,
        ):
            for outcome in outcomes:
                outcome = _checked(outcome, todo[outcome.digest], store)
                came[outcome.digest] = outcome
                if outcome.status == "failed":
                    teller.failed(outcome.digest, outcome.reason)
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


def _told(outcome: Outcome, failed: Mapping[str, str]) -> Outcome:
    """A cell that isn't there, with what a run has said of it."""
    if outcome.status != "missing" or outcome.digest not in failed:
        return outcome
    return Outcome(outcome.digest, "failed", failed[outcome.digest])


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
            say(
                "Expected a store that can be written in {folder}, where workers leave their "
                "results; it can't be ({reason}), so let ATLAS_STORE name another folder.",
                folder=store.folder,
                reason=error.strerror,
            )
        ) from None


def _executor(limits: Limits) -> Executor:
    if limits.kind == "inline":
        return inline.run
    if limits.kind == "local":
        return partial(local.run, workers=limits.workers)
    return partial(slurm.run, limits=limits)
