"""The cost table: each encoding is measured, and set beside none at all of the same run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from benchmarks import costs
from viz_core import results
from viz_core.encodings import all_encodings


@pytest.mark.parametrize("task", ["forward", "training"])
@pytest.mark.parametrize("encoding", all_encodings())
def test_every_encoding_is_measured(encoding: str, task: str) -> None:
    cell = costs.measure(encoding, task, 16, batch=2, repeats=1)
    assert cell["seconds_per_token"] > 0
    assert cell["megabytes"] >= 0  # in a process as large as this one, so little may hide
    assert cell["parameters"] > cell["position_parameters"] >= 0
    assert (cell["position_parameters"] > 0) == (encoding in ("kerple", "learned", "t5"))
    assert cell["note"] == ""


def test_a_fresh_process_sees_its_memory_and_leaves_this_one_alone() -> None:
    threads = torch.get_num_threads()
    cell = costs.measured("rope", "forward", 256, 1, 1)
    logits = 256 * 4096 * 4 / 1e6
    assert cell["seconds_per_token"] > 0
    assert logits < cell["megabytes"] < 10 * logits
    assert torch.get_num_threads() == threads


def test_past_its_end_an_encoding_has_a_note_and_no_number() -> None:
    assert costs.measure("learned", "forward", 513) == {
        "parameters": costs.measure("nope", "forward", 16)["parameters"] + 512 * 256,
        "position_parameters": 512 * 256,
        "note": "undefined past its 512 trained positions",
    }


def test_ratios_are_to_none_of_the_same_cell_and_the_fastest_counts() -> None:
    calls = []

    def act(encoding: str, task: str, length: int, batch: int, repeats: int) -> costs.Cell:
        calls.append((encoding, task, length, batch, repeats == 1))
        if (encoding, length) == ("learned", 128):
            return {"parameters": 9, "position_parameters": 4, "note": "undefined"}
        factor = {"nope": 1, "rope": 2, "learned": 3}[encoding]
        speed = 9 if repeats == 1 else 1 + len(calls) / 1000  # the slow run counts for memory only
        size = 5 * factor if repeats == 1 else 99
        numbers = {"seconds_per_token": speed * factor, "megabytes": size}
        return {"parameters": 9, "position_parameters": 4, "note": ""} | numbers

    rows = costs.table(["nope", "rope", "learned"], [128], (64, 8), act, rounds=2)
    assert [c[0] for c in calls[:6]] == ["nope", "rope", "learned"] * 2  # they take turns
    assert calls[:9:3] == [
        ("nope", "forward", 64, 1, True),
        ("nope", "forward", 128, 1, True),
        ("nope", "training", 64, 8, True),
    ]
    assert [(r["encoding"], r["length"]) for r in rows] == [
        (e, n) for e in ("nope", "rope", "learned") for n in (64, 128)
    ]
    assert all(tuple(r) == costs.COLUMNS for r in rows)
    none, rope, far = rows[0], rows[2], rows[5]
    assert none["forward_ratio"] == none["forward_memory_ratio"] == 1
    assert none["training_ratio"] == none["training_memory_ratio"] == 1
    assert none["forward_seconds_per_token"] == 1.010  # the tenth call, first of the timed ones
    assert rope["forward_seconds_per_token"] == 2 * 1.011
    assert rope["forward_ratio"] == pytest.approx(2 * 1.011 / 1.010)
    assert rope["training_memory_ratio"] == 2 and rope["training_megabytes"] == 10
    assert rows[3]["forward_ratio"] > 1 and rows[3]["training_ratio"] is None  # at 128, not trained
    assert far["note"] == "undefined" and far["forward_ratio"] is None
    assert "undefined" in costs.shown(rows).splitlines()[-1]


def test_the_table_is_shown_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def act(encoding: str, task: str, length: int, batch: int, repeats: int) -> costs.Cell:
        cell = {"parameters": 9, "position_parameters": 4, "note": ""}
        if (encoding, length) == ("learned", 1024):
            return cell | {"note": "undefined"}
        return cell | {"seconds_per_token": length / 1e6, "megabytes": batch}

    table = costs.table
    monkeypatch.setattr(costs, "table", lambda *asked: table(*asked, act=act))
    out = tmp_path / "costs.csv"
    ask = ["costs", "--lengths", "1024,64", "--out", str(out)]
    monkeypatch.setattr("sys.argv", [*ask, "--json"])
    assert costs.main() == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [r["encoding"] for r in rows[::3]] == ["nope", *sorted({*all_encodings()} - {"nope"})]
    assert [r["length"] for r in rows[:3]] == [64, 512, 1024]
    assert rows[1]["training_megabytes"] == 8
    written = results.read(out)
    assert written.command == "python -m benchmarks.costs --lengths 1024,64"
    assert list(written.rows) == list(costs.COLUMNS)
    far = written.rows[written.rows.note == "undefined"]
    assert far.encoding.tolist() == ["learned"] and far.forward_ratio.isna().all()
    monkeypatch.setattr("sys.argv", ask)
    assert costs.main() == 0
    assert len(capsys.readouterr().out.splitlines()) == len(rows) + 1
    monkeypatch.setattr("sys.argv", ["costs", "--lengths", "64,0"])
    with pytest.raises(SystemExit):
        costs.main()
