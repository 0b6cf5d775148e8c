"""The journal: what was set is there after any stop, and a broken line costs only itself."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from viz_core.errors import AtlasError
from viz_core.journal import Journal, store_folder


def test_records_are_there_when_it_is_opened_again(tmp_path: Path) -> None:
    first = Journal(tmp_path / "new" / "j.jsonl")
    assert len(first) == 0 and first.get("a") is None
    first["a"] = {"sums": [1.5], "seconds": 0.25}
    first["b"] = {"sums": [2.0]}
    first["a"] = {"sums": [3.0]}
    again = Journal(first.path)
    assert dict(again) == {"a": {"sums": [3.0]}, "b": {"sums": [2.0]}} == dict(first)
    assert again.broken == 0


@pytest.mark.parametrize("cut", range(1, 24))
def test_a_line_cut_anywhere_is_left_out_and_the_next_is_kept(tmp_path: Path, cut: int) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal["a"] = {"n": 1}
    journal["b"] = {"n": 22222222222}
    text = journal.path.read_bytes()
    journal.path.write_bytes(text[:-cut])
    after = Journal(journal.path)
    whole = cut == 1  # only the end of the line is missing
    assert ("b" in after) == whole and after.broken == (not whole)
    after["c"] = {"n": 3}
    last = Journal(journal.path)
    assert last["a"] == {"n": 1} and last["c"] == {"n": 3}
    assert ("b" in last) == whole


def test_lines_that_are_no_records_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'\xff\xfe\n[1, {}]\n["a"]\n"words"\n["k", {"n": 1}]\n')
    journal = Journal(path)
    assert journal.broken == 4 and dict(journal) == {"k": {"n": 1}}


def _write(path: Path, name: str) -> None:
    journal = Journal(path)
    for i in range(200):
        journal[f"{name}{i}"] = {"sums": list(range(50)), "i": i}


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(tmp_path / "j.jsonl", n)) for n in "abc"]
    for w in writers:
        w.start()
    for w in writers:
        w.join()
    found = Journal(tmp_path / "j.jsonl")
    assert len(found) == 600 and found.broken == 0


def test_where_it_cannot_write_it_says_so_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(AtlasError, match="Could not read"):
        Journal(tmp_path)
    (tmp_path / "file").write_text("no folder")
    journal = Journal(tmp_path / "file" / "j.jsonl")
    with pytest.raises(AtlasError, match="Could not write"):
        journal["a"] = {}


def test_the_folder_is_chosen_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_STORE", str(tmp_path))
    assert store_folder() == tmp_path
    monkeypatch.delenv("ATLAS_STORE")
    assert store_folder().name == "store"
