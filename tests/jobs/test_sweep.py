"""A sweep, inline and in processes: complete, nothing twice, whatever dies on the way."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import psutil
import pytest

from viz_core.errors import AtlasError
from viz_core.jobs import local, planning, spec, sweep, tables
from viz_core.jobs.cell import Cell, Outcome
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work

Write = Callable[..., Path]
HERE, TWO = Limits("inline"), Limits("local", workers=2)
ALL = '["maps", "decay", "signatures"]'


def planned(path: Path) -> list[Cell]:
    return planning.plan(spec.read(path))


def statuses(results: list[sweep.Result]) -> list[str]:
    return [r.outcome.status for r in results]


def workers() -> list[psutil.Process]:
    """Processes that this one has spawned for cells."""
    found = psutil.Process().children()
    return [p for p in found if "spawn_main" in " ".join(p.cmdline())]


def kill_self(cell: Cell) -> Outcome:
    """Work that dies over every cell of ALiBi, the first time alone over one of RoPE."""
    mark = Path(cell.name).with_suffix(".tried")
    if cell.encoding == "alibi" or not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    assert cell.key is not None
    return Outcome(cell.key.digest, "computed")


def test_processes_give_the_table_that_this_one_gives(write: Write, tmp_path: Path) -> None:
    cells = planned(write(lengths="[96, 120]", measurements=ALL))
    one, other = Work(tmp_path / "one", 1 << 28), Work(tmp_path / "other", 1 << 28)
    done = list[float]()
    here, there = sweep.run(cells, one, HERE, done.append), sweep.run(cells, other, TWO)
    assert statuses(here) == statuses(there) == ["computed"] * 12
    assert done == sorted(done) and done[0] == 0 and done[-1] == 1
    pd.testing.assert_frame_equal(
        tables.table(here, one.store()), tables.table(there, other.store()), rtol=1e-4, atol=1e-6
    )
    assert not workers()


def test_only_what_is_missing_is_computed(write: Write, work: Work) -> None:
    few = planned(write())
    assert statuses(sweep.look(few, work.store())) == ["missing"] * 2
    sweep.run(few, work, HERE)
    more = planned(write(lengths="[96, 120]", measurements='["signatures", "decay"]'))
    found = sweep.run(more, work, HERE)
    assert statuses(found) == ["found", "found", "computed", "computed"] * 2
    assert statuses(sweep.run(more, work, TWO)) == ["found"] * 8
    assert statuses(sweep.look(more, work.store())) == ["found"] * 8


def test_one_that_fails_does_not_stop_the_rest(write: Write, folder: Path, work: Work) -> None:
    cells = planned(write(checkpoints='["rope.safetensors", "learned.safetensors"]'))
    cells += planned(write(checkpoints='["learned.safetensors"]', lengths="[300]"))
    (folder / "rope.safetensors").unlink()
    found = sweep.run(cells, work, HERE)
    assert statuses(found) == ["failed", "computed", "undefined"]
    assert "there is none" in found[0].outcome.reason


def test_a_process_that_is_killed_takes_nothing_along(write: Write, work: Work) -> None:
    cells, killed = planned(write(lengths="[96, 120]", measurements=ALL)), list[int]()

    def kill_one(done: float) -> None:
        if not killed and (some := workers()):
            killed.append(some[0].pid)
            some[0].kill()

    assert statuses(sweep.run(cells, work, TWO, kill_one)) == ["computed"] * 12
    assert len(killed) == 1 and not workers()


def test_a_cell_that_kills_its_process_twice_has_failed(write: Write) -> None:
    cells = planned(write())
    found = {o.digest: o for o in local.run(cells, kill_self, lambda: None, workers=2)}
    alibi, rope = (found[c.key.digest] for c in cells if c.key)
    assert rope.status == "computed" and alibi.status == "failed"
    assert "ended 2 times over it (SIGKILL)" in alibi.reason


def test_who_cancels_leaves_no_process_and_keeps_what_is_done(write: Write, work: Work) -> None:
    class Cancelled(Exception):
        pass

    def stop(done: float) -> None:
        if done > 0:
            raise Cancelled

    cells = planned(write(lengths="[96, 100, 104, 108]"))
    for limits in (HERE, TWO):
        with pytest.raises(Cancelled):
            sweep.run(cells, work, limits, stop)
        assert not workers()
    kept = statuses(sweep.look(cells, work.store())).count("found")
    assert 1 <= kept < 8


def test_a_store_that_can_not_be_written(write: Write, tmp_path: Path) -> None:
    """As a folder whose parent is a file: permissions would not stop root."""
    (tmp_path / "file").touch()
    work = Work(tmp_path / "file" / "store", 1 << 28)
    for limits in (HERE, TWO):
        with pytest.raises(AtlasError, match="Expected a store that can be written"):
            sweep.run(planned(write()), work, limits)


def test_a_finished_sweep_is_read_from_a_store_that_can_not_be_written(
    write: Write, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = planned(write())
    sweep.run(cells, work, HERE)
    monkeypatch.setattr(sweep, "_check_writable", lambda store: pytest.fail("wants to write"))
    assert statuses(sweep.run(cells, work, HERE)) == ["found", "found"]


def test_a_result_counts_even_if_its_worker_is_lost(
    write: Write, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = planned(write())

    def lost(some: list[Cell], work: Work, tick: object) -> object:
        assert work(some[0]).status == "computed"
        yield from (Outcome(c.key.digest, "failed", "lost") for c in some if c.key)

    monkeypatch.setattr(sweep.inline, "run", lost)
    found = sweep.run(cells, work, HERE)
    assert [r.outcome.status for r in found] == ["computed", "failed"]
    assert found[1].outcome.reason == "lost"
    table = tables.table([found[0], replace(found[0], outcome=found[1].outcome)], work.store())
    assert list(table.status) == ["computed"] * 4 + ["failed"]
