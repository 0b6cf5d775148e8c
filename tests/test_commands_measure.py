"""The commands that measure many checkpoints: what stands in their tables, and what they refuse."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer

from viz_core import catalogue, mechanism, probes, results, texts, variants
from viz_core.__main__ import main
from viz_core.commands import _shared
from viz_core.mechanism import Mechanism
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native
from viz_core.trace import trace
from viz_core.training import corpus, downloads

Cli = Callable[..., tuple[int, str, str]]
MEASURES = [f.name for f in fields(Mechanism) if f.name != "queries"]
MECHANISM = [
    *("checkpoint", "encoding", "trained_length", "setting", "text", "length", "layer"),
    *("entropy", "entropy_share", "sink_mass", "mean_distance", "mean_distance_share"),
    *("beyond_trained", "unseen_phases", "texts", "note", "checkpoint_sha256"),
]
PROBES = [
    *("checkpoint", "encoding", "previous_token", "previous_token_layer", "previous_token_head"),
    *("previous_token_baseline", "induction", "induction_layer", "induction_head"),
    *("induction_baseline", "loss_1_15", "loss_256_511", "passed", "checkpoint_sha256"),
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tiny")
    paths = {}
    config = ModelConfig("nope", 2, 2, 16, 4096, 128)
    for name in ("alibi", "rope", "learned"):
        torch.manual_seed(0)
        model = Transformer(replace(config, encoding=name))
        with torch.no_grad():
            model.embedding.weight.mul_(50)  # attention that differs from row to row
        paths[name] = folder / f"{name}.safetensors"
        losses = {"loss_by_position": {"1-15": 5.5, "256-511": 4.5}} if name == "alibi" else {}
        native.save(model, paths[name], losses)
    return paths


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(catalogue.TOKENIZER))


@pytest.fixture(autouse=True)
def no_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path / "nowhere"))


def refused(result: tuple[int, str, str], status: int, *words: object) -> None:
    """Nothing on standard output, one line that says why on standard error."""
    assert result[:2] == (status, "")
    assert result[2].startswith("error: ")
    assert result[2].count("\n") == 1
    for word in words:
        assert str(word) in result[2]


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        ([], "python -m viz_core"),
        (["probes", "rope", "--json", "--out", "a b.csv"], "python -m viz_core probes rope"),
        (["probes", "--out=x.csv", "rope"], "python -m viz_core probes rope"),
        (["probes", "--ou", "x.csv", "--js", "rope"], "python -m viz_core probes rope"),
        (["x", "--text", "heldout", "--out"], "python -m viz_core x --text heldout"),
        (["x", "my model/a.safetensors"], "python -m viz_core x 'my model/a.safetensors'"),
        (["x", "-1", "-", "--"], "python -m viz_core x -1 - --"),
    ],
)
def test_the_command_of_a_table_leaves_out_where_it_goes(argv: list[str], kept: str) -> None:
    assert _shared.command_line(argv).strip() == kept


def test_probes_gives_a_row_per_checkpoint(
    cli: Cli, tiny: dict[str, Path], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    out = tmp_path / "probes.csv"
    ask = ("probes", tiny["alibi"], tiny["rope"], "--device", "cpu")
    status, shown, _ = cli(*ask, "--json", "--out", out)
    assert status == 0
    document = json.loads(shown)
    assert [r["checkpoint"] for r in document["rows"]] == ["alibi", "rope"]
    assert [list(r) for r in document["rows"]] == [PROBES, PROBES]
    passages = texts.passages("python-docs", 128, 4, tokenizer)  # all of the trained length
    for row in document["rows"]:
        model = catalogue.find(str(tiny[row["encoding"]])).load()
        before = [probes.previous_token(trace(model, p.ids)) for p in passages]
        value = np.mean([s.value for s in before], axis=0)
        place = row["previous_token_layer"] - 1, row["previous_token_head"] - 1
        assert row["previous_token"] == pytest.approx(value.max(), rel=1e-5)
        assert row["previous_token"] == pytest.approx(value[place], rel=1e-5)
        assert row["previous_token_baseline"] == pytest.approx(before[0].baseline)
        copies = probes.induction(model, tokenizer)
        place = row["induction_layer"] - 1, row["induction_head"] - 1
        assert row["induction"] == pytest.approx(copies.value[place], rel=1e-5)
        assert row["induction_baseline"] == pytest.approx(copies.baseline)
        assert row["checkpoint_sha256"] == native.sha256(tiny[row["encoding"]])
    alibi, rope = document["rows"]
    assert (alibi["loss_1_15"], alibi["loss_256_511"]) == (5.5, 4.5)
    found = alibi["previous_token"] >= 5 * alibi["previous_token_baseline"]
    assert alibi["passed"] is (found or alibi["induction"] >= 5 * alibi["induction_baseline"])
    assert (rope["loss_1_15"], rope["loss_256_511"]) == (None, None)
    table = results.read(out)
    assert table.command == document["command"] == _shared.command_line([str(a) for a in ask])
    assert list(table.rows.columns) == PROBES
    np.testing.assert_allclose(table.rows["induction"], [r["induction"] for r in document["rows"]])


def test_probes_of_all_shipped_as_a_table(
    cli: Cli, tiny: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = catalogue.find(str(tiny["rope"]))
    monkeypatch.setattr(catalogue, "shipped", lambda: {"rope": one})
    status, out, _ = cli("probes")
    assert status == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == ["checkpoint", "rope"]
    monkeypatch.setattr(catalogue, "shipped", dict)
    refused(cli("probes"), 1, "make checkpoints")


@pytest.fixture(scope="module")
def measured(tiny: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The table that a command wrote."""
    out = tmp_path_factory.mktemp("out") / "mechanism.csv"
    argv = ["mechanism", str(tiny["rope"]), "--lengths", "700,100,300", "--scaling"]
    argv += ["none,linear:fit,ntk:4", "--text", "python-docs", "--texts", "2", "--device", "cpu"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["viz_core", *argv, "--out", str(out)])
        assert main([*argv, "--out", str(out)]) == 0
    table = results.read(out)
    assert table.command == _shared.command_line(argv)
    return table.rows


def test_mechanism_has_a_row_per_setting_length_and_layer(measured: pd.DataFrame) -> None:
    rows = measured
    assert list(rows.columns) == MECHANISM
    places = list(zip(rows["setting"], rows["length"], rows["layer"], strict=True))
    settings = ("", "linear:fit", "ntk:4")
    assert places == [
        (s, n, layer) for s in settings for n in (100, 300, 700) for layer in ("1", "2", "all")
    ]
    assert set(rows["texts"]) == {2}
    assert set(rows["text"]) == {"python-docs"}
    assert set(rows["note"]) == {"the last 99 queries"}  # the shortest length has no more


def test_mechanism_measures_the_same_last_tokens_at_every_length(
    measured: pd.DataFrame, tiny: dict[str, Path], tokenizer: Tokenizer
) -> None:
    rows = measured.set_index(["setting", "length", "layer"])
    model = catalogue.find(str(tiny["rope"])).load()
    passages = texts.passages("python-docs", 700, 2, tokenizer)
    for setting, length in (("", 100), ("linear:fit", 300), ("ntk:4", 700)):
        varied = variants.vary(model, setting, length)
        found = [mechanism.measure(trace(varied, p.ids[-length:]), 99) for p in passages]
        for name in MEASURES:
            means = np.mean([getattr(f, name) for f in found], axis=(0, 2))  # over texts and heads
            for layer, expected in (("1", means[0]), ("2", means[1]), ("all", means.mean())):
                got = rows.loc[(setting, length, layer), name]
                assert got == pytest.approx(expected, rel=1e-5, abs=1e-9)
        phases = mechanism.unseen_phases(varied.encoding, length, 128)
        assert rows.loc[(setting, length, "all"), "unseen_phases"] == pytest.approx(phases)
    unseen = rows["unseen_phases"].xs("all", level="layer")
    assert unseen["", 100] == unseen["linear:fit", 700] == 0 < unseen["", 700]


def test_past_a_learned_table_there_are_no_numbers(cli: Cli, tiny: dict[str, Path]) -> None:
    ask = (
        "mechanism",
        tiny["learned"],
        tiny["alibi"],
        "--lengths",
        "128,300",
        "--texts",
        1,
        "--text",
        "python-docs",
    )
    status, out, _ = cli(*ask, "--json")
    assert status == 0
    rows: list[dict[str, Any]] = json.loads(out)["rows"]
    past = [r for r in rows if r["encoding"] == "learned" and r["length"] == 300]
    assert [r["layer"] for r in past] == [1, 2, "all"]
    for row in past:
        assert row["note"] == "undefined past its 128 trained positions"
        assert all(row[name] is None for name in [*MEASURES, "unseen_phases", "texts"])
    others = [r for r in rows if r not in past]
    assert len(others) == 9
    assert all(isinstance(r[name], float) for r in others for name in MEASURES)
    assert all(r["unseen_phases"] is None for r in rows)
    out = cli(*ask)[1]
    assert out.splitlines()[0].split()[:4] == ["checkpoint", "setting", "length", "layer"]
    assert sum("undefined past" in line for line in out.splitlines()) == 3


def test_angles_are_compared_with_the_base_that_was_trained(
    cli: Cli, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    unseen = {}
    for name, values in {"other": {"theta": 500.0}, "scaled": {"scaling": "ntk"}}.items():
        torch.manual_seed(0)
        config = ModelConfig("rope", 1, 1, 16, 4096, 64, parameters=values)  # type: ignore[arg-type]
        native.save(Transformer(config), tmp_path / f"{name}.safetensors", {})
        ask = (
            "mechanism",
            tmp_path / f"{name}.safetensors",
            "--lengths",
            "64,200",
            "--json",
            "--text",
            "python-docs",
        )
        rows = json.loads(cli(*ask, "--texts", 1)[1])["rows"]
        unseen[name] = [r["unseen_phases"] for r in rows if r["layer"] == "all"]
    model = Transformer(ModelConfig("rope", 1, 1, 16, 4096, 64, parameters={"theta": 500.0}))
    expected = mechanism.unseen_phases(model.encoding, 200, 64, 500.0)
    assert unseen == {"other": [0, pytest.approx(expected)], "scaled": [None, None]}


def test_the_default_text_is_the_held_out_one_which_is_fetched_once(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ("mechanism", tiny["alibi"], "--lengths", "20", "--texts", 2, "--json")
    story = "It was a day like any other, and nobody said a word about it. " * 20
    document = dict(source="sotu", licence="public-domain", split="val")
    lines = [json.dumps({**document, "id": f"sotu/{n}", "text": f"{n} {story}"}) for n in range(3)]

    def build(packages: Path, out: Path) -> None:
        out.with_name("heldout.jsonl").write_text("\n".join(lines), encoding="utf-8")

    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path))
    monkeypatch.setattr(downloads, "fetch", lambda folder, progress: folder)
    monkeypatch.setattr(corpus, "build", build)
    for fetched in (True, False):
        _, out, err = cli(*ask)
        assert {(r["text"], r["texts"]) for r in json.loads(out)["rows"]} == {("heldout", 2)}
        assert ("building" in err) == fetched


def test_an_own_text_is_one_text(cli: Cli, tiny: dict[str, Path], tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("The same words, and then some more of them. " * 20, encoding="utf-8")
    ask = ("mechanism", tiny["alibi"], "--lengths", "40", "--text-file", own, "--json")
    rows = json.loads(cli(*ask)[1])["rows"]
    assert {(r["text"], r["texts"]) for r in rows} == {(str(own), 1)}
    refused(cli(*ask, "--texts", 3), 2, "--texts")
    own.write_text("one two three", encoding="utf-8")
    status, out, err = cli(*ask)
    assert (status, out) == (2, "")
    assert "Expected texts of 40 tokens" in err.splitlines()[-1]
    own.write_text("", encoding="utf-8")
    refused(cli(*ask), 2, "empty")


def test_what_cannot_be_measured_is_refused_before_any_work(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "passages", None)
    monkeypatch.setattr(mechanism, "measure", None)
    ask = ("mechanism", tiny["rope"], "--lengths")
    refused(cli(*ask, "512,1"), 2, "from 2", "got 1")
    refused(cli(*ask, f"512,{10**12}"), 2, "choose at most")
    refused(cli(*ask, "64", "--scaling", "linear:big"), 2, "linear:big")
    refused(cli(*ask, "64", "--scaling", "none,nix"), 2, "'nix'")
    refused(cli("mechanism", tiny["alibi"], *ask[1:], "64", "--scaling", "ntk:4"), 2, "ALiBi")
    refused(cli(*ask, "64", "--text", "pasted"), 2, "--text-file")
    refused(cli(*ask, "64", "--out", tmp_path / "no/x.csv"), 2, "--out")
    refused(cli("mechanism", "nix", "--lengths", "64"), 2, "'nix'")
    refused(cli("probes", "nix"), 2, "'nix'")
    refused(cli("probes", tiny["rope"], "--out", tmp_path), 2, "--out")
    for wrong in (ask[:2], (*ask, "many"), (*ask, ""), ("mechanism", "--lengths", "64")):
        assert cli(*wrong)[:2] == (2, "")


@pytest.mark.parametrize("command", ["probes", "mechanism"])
def test_stopping_is_one_line_and_leaves_no_table(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mechanism, "measure", stopped)
    monkeypatch.setattr(probes, "induction", stopped)
    text = ("--text", "python-docs")
    more = ("--lengths", "64", *text) if command == "mechanism" else ()
    refused(cli(command, tiny["rope"], *more, "--out", tmp_path / "x.csv"), 130, "Stopped")
    assert not (tmp_path / "x.csv").exists()
