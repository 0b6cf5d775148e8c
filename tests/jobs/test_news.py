"""What those who look at a store hear of the sweeps that run on it, and of what has failed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from viz_core.jobs import news, planning, spec, sweep
from viz_core.jobs.news import Heard, Teller
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work

Write = Callable[..., Path]


def silent(store: Path) -> None:
    """As if every run had been killed a while ago."""
    for path in (store / news.FOLDER).glob("*.json"):
        os.utime(path, (0, time.time() - 2 * news.SILENCE))


def test_a_run_is_heard_until_it_is_over(tmp_path: Path) -> None:
    teller = Teller(tmp_path, ["a", "b"])
    assert news.heard(tmp_path) == Heard(frozenset("ab"))
    teller.failed("a", "too long")
    assert news.heard(tmp_path) == Heard(frozenset("b"), {"a": "too long"})
    teller.close()
    assert news.heard(tmp_path) == Heard(frozenset(), {"a": "too long"})


def test_a_run_without_failures_leaves_nothing(tmp_path: Path) -> None:
    Teller(tmp_path, ["a"]).close()
    assert news.heard(tmp_path) == Heard() and not [*(tmp_path / news.FOLDER).iterdir()]


def test_one_that_was_killed_is_heard_no_more_but_for_what_failed(tmp_path: Path) -> None:
    Teller(tmp_path, ["a", "b"]).failed("a", "too long")
    silent(tmp_path)
    assert news.heard(tmp_path) == Heard(frozenset(), {"a": "too long"})


def test_what_is_tried_again_has_not_failed_yet(tmp_path: Path) -> None:
    first = Teller(tmp_path, ["a"])
    first.failed("a", "too long")
    first.close()
    again = Teller(tmp_path, ["a"])
    assert news.heard(tmp_path) == Heard(frozenset("a"))
    again.failed("a", "still too long")
    assert news.heard(tmp_path).failed == {"a": "still too long"}


def test_old_news_is_removed_by_who_tries_again(tmp_path: Path) -> None:
    first = Teller(tmp_path, ["a"])
    first.failed("a", "too long")
    first.close()
    silent(tmp_path)
    Teller(tmp_path, ["a"]).close()
    assert news.heard(tmp_path) == Heard()


def test_a_disk_that_refuses_and_a_file_that_is_no_note_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    teller = Teller(tmp_path / "file" / "store", ["a"])
    teller.failed("a", "too long")
    teller.close()
    (tmp_path / news.FOLDER).mkdir()
    for name, text in (("one", "no"), ("two", "[]"), ("three", '{"cells": 3}')):
        (tmp_path / news.FOLDER / f"{name}.json").write_text(text)
    assert news.heard(tmp_path) == Heard()


def test_a_look_at_a_sweep_says_what_failed_and_what_is_awaited(
    write: Write, folder: Path, work: Work
) -> None:
    cells = planning.plan(spec.read(write()))
    (folder / "rope.safetensors").unlink()
    heard = list[Heard]()
    sweep.run(cells, work, Limits(), lambda done: heard.append(news.heard(work.folder)))
    keys = {c.encoding: c.key.digest for c in cells if c.key}
    assert heard[1].awaited == set(keys.values())
    found = {r.cell.encoding: r.outcome for r in sweep.look(cells, work.store())}
    assert found["alibi"].status == "found" and found["rope"].status == "failed"
    assert "there is none" in found["rope"].reason
    elsewhere = replace(work, folder=work.folder / "other")
    assert {r.outcome.status for r in sweep.look(cells, elsewhere.store())} == {"missing"}


def test_who_cancels_is_heard_no_more(write: Write, work: Work) -> None:
    class Cancelled(Exception):
        pass

    def stop(done: float) -> None:
        if done > 0:
            raise Cancelled

    with pytest.raises(Cancelled):
        sweep.run(planning.plan(spec.read(write())), work, Limits(), stop)
    assert news.heard(work.folder) == Heard()
