"""Trainings out of the table of a sweep, whatever else stands in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.plates import emergence_tables as made_up
from viz_core import plates, results
from viz_core.errors import AtlasError, UsageError
from viz_core.export.target import Target
from viz_core.plates import emergence
from viz_core.plates.tray import Pin
from viz_core.signatures import reach


def frame(tmp_path: Path, **how: object) -> pd.DataFrame:
    return results.read(made_up.write(tmp_path / "table.csv", **how)).rows


def test_each_training_has_its_steps_heads_and_losses(tmp_path: Path) -> None:
    alibi, rope = emergence.trainings(frame(tmp_path), "heldout")
    assert (alibi.name, rope.name, rope.texts, rope.length) == ("ALiBi", "RoPE", 8, 512)
    assert rope.step.tolist() == list(made_up.STEPS)
    assert rope.tokens.tolist() == [4096 * step for step in made_up.STEPS]
    assert rope.heads == [(a, b) for a in (1, 2) for b in (1, 2, 3, 4)]
    assert rope.values["swing"][:, 0].tolist() == [0.1, 1.0, 1.0, 1.0]
    assert rope.loss[0] == pytest.approx(8.3) and rope.documents == 42
    assert np.isnan(rope.values["slope"]).all() and (alibi.values["slope"] == 1).all()


def test_the_nominal_reach_is_that_of_the_bias_alone(tmp_path: Path) -> None:
    (alibi,) = emergence.trainings(frame(tmp_path, encodings=["alibi"]), "heldout")
    alone = reach.reach(reach.geometric(np.array([0.5, 0.0625]), 508), (0.9,))[:, 0]
    assert alibi.values["reach_nominal"][0, [0, 3]] == pytest.approx(alone)
    flat = reach.reach(reach.geometric(np.zeros(1), 508), (0.9,))[0, 0]
    assert flat == pytest.approx(298.857, abs=0.01)  # as tables have it for texts of 512 tokens


def test_two_trainings_of_one_encoding_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    both = [
        *made_up.rows(["rope"], folder="runs/first"),
        *made_up.rows(["rope"], folder="runs/second"),
    ]
    found = emergence.trainings(pd.DataFrame(both), "heldout")
    assert [one.name for one in found] == ["RoPE (first)", "RoPE (second)"]


def test_other_texts_lengths_and_settings_stand_apart(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        [
            *made_up.rows(),
            *made_up.rows(length=1024),
            *({**row, "swing": 9.0} for row in made_up.rows(text="prose")),
            *({**row, "setting": "linear:2", "swing": 9.0} for row in made_up.rows(["rope"])),
        ]
    )
    rope = emergence.trainings(rows, "heldout")[1]
    assert rope.length == 512 and rope.values["swing"].max() == 1.0
    assert emergence.trainings(rows, "heldout", 1024)[1].length == 1024
    assert emergence.trainings(rows, "prose")[1].values["swing"].min() == 9.0
    assert not emergence.trainings(rows, "random")


def test_a_sweep_that_runs_has_the_steps_that_are_there() -> None:
    rows = pd.DataFrame(made_up.rows(["rope"]))
    missing = (rows.step == 100) & (rows.measurement == "signatures")
    rows.loc[missing, "status"] = "missing"
    (rope,) = emergence.trainings(rows, "heldout")
    assert rope.step.tolist() == list(made_up.STEPS)  # its loss is there
    assert np.isnan(rope.values["swing"][2]).all() and np.isfinite(rope.loss).all()


@pytest.mark.parametrize("rows", [[], list(made_up.rows(steps=[10])), [{"checkpoint": "rope"}]])
def test_one_step_is_no_training(rows: list[dict[str, object]]) -> None:
    assert not emergence.trainings(pd.DataFrame(rows), "heldout")


def test_a_table_of_decay_alone_has_slopes_and_reaches() -> None:
    rows = pd.DataFrame(made_up.rows(["alibi"]))
    rows = rows[rows.measurement == "signatures"].assign(measurement="decay")
    rows = rows.drop(columns=["ripple", "ripple_even", "swing", "swing_noise", "sink", "sink_even"])
    found = emergence.trainings(rows, "heldout")
    spec = emergence.plot(found, rows, ()).spec
    assert [p.title for p in spec.panels] == ["Slope", "Reach"]


def test_the_plate_reads_csv_and_parquet_alike(tmp_path: Path) -> None:
    table = results.read(made_up.write(tmp_path / "table.csv"))
    table.rows.to_parquet(tmp_path / "table.parquet", index=False)
    plate = plates.get("emergence")
    data = {
        plate.export({"table": str(tmp_path / name)}, Target()).provenance.data
        for name in ("table.csv", "table.parquet")
    }
    assert len(data) == 1


def test_tables_that_say_nothing_are_told_apart_from_none(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    plate, path = plates.get("emergence"), tmp_path / "table.parquet"
    with pytest.raises(AtlasError, match="Expected two steps of a training or more on heldout"):
        plate.export({}, Target())
    path.write_bytes(b"nothing")
    with pytest.raises(AtlasError, match=r"a table of a sweep in table\.parquet; it can.t be read"):
        plate.export({"table": str(path)}, Target())
    with pytest.raises(AtlasError, match="there is none"):
        plate.export({"table": str(tmp_path / "none.csv")}, Target())


def test_no_address_opens_a_file_of_the_server() -> None:
    pin = Pin("emergence", {"table": "/etc/hostname"})
    assert pin.read()["table"] == "/etc/hostname"
    with pytest.raises(UsageError, match="which only the command line can open"):
        pin.read(local=False)


@pytest.mark.skipif(
    not (results.FOLDER / "emergence.csv").is_file(), reason="its trainings are not made yet"
)
def test_the_shipped_table_has_every_step_of_two_trainings_from_the_first_on() -> None:
    rows = results.shipped(emergence.KIND)
    assert set(rows.status) <= {"found", "computed"}
    alibi, rope = emergence.trainings(rows, "heldout")
    assert (alibi.accent, rope.accent) == ("alibi", "rope")
    assert alibi.step.tolist() == rope.step.tolist() and alibi.step[0] == 0
    assert alibi.tokens.tolist() == rope.tokens.tolist() and len(alibi.heads) == 32
    for one in (alibi, rope):
        for name in ("reach", "ripple", "swing", "sink"):
            assert np.isfinite(one.values[name]).all(), (one.name, name)
        assert one.loss[-1] < one.loss[0]
    # what the page says: ALiBi's slopes are set, RoPE's ripples have their shape from the start
    assert np.nanmedian(alibi.values["slope"][0]) == pytest.approx(1.0, abs=0.01)
    assert np.median(rope.values["ripple"][0]) > 2 * np.median(rope.values["ripple_even"][0])
    assert np.median(rope.values["swing"][-1]) > np.median(rope.values["swing"][0])
