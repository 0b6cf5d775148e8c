"""`perplexity`: its rows, what it keeps, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

from viz_core import catalogue, perplexity, results, texts
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native
from viz_core.training import corpus, downloads

Cli = Callable[..., tuple[int, str, str]]
COLUMNS = ["checkpoint", "encoding", "trained_length", "setting", "protocol", "text"]
COLUMNS += [f.name for f in fields(perplexity.Row) if f.name not in ("setting", "protocol")]
COLUMNS += ["checkpoint_sha256", "text_sha256"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    paths = {}
    for name in ("alibi", "rope", "learned"):
        folder = tmp_path_factory.mktemp("tiny") / name
        folder.mkdir()
        torch.manual_seed(0)
        model = Transformer(ModelConfig(name, 2, 2, 16, 4096, 300))
        native.save(model, folder / "model.safetensors", {})
        paths[name] = folder / "model.safetensors"
    return paths


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATLAS_STORE", str(tmp_path / "store"))
    return tmp_path / "store" / "perplexity.jsonl"


def refused(result: tuple[int, str, str], status: int, *words: object) -> None:
    """Nothing on standard output, one line that says why as the last on standard error."""
    assert result[:2] == (status, "")
    assert result[2].splitlines()[-1].startswith("error: ")
    for word in words:
        assert str(word) in result[2]


ASK = ("--text", "python-docs", "--documents", 2)


def test_a_row_for_each_checkpoint_and_length(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "rows.csv"
    ask = ("perplexity", *tiny.values(), "--lengths", "300,512", *ASK)
    status, shown, _ = cli(*ask, "--json", "--out", out)
    assert status == 0
    found = json.loads(shown)
    assert [(r["checkpoint"], r["length"]) for r in found["rows"]] == [
        (name, n) for name in tiny for n in (300, 512)
    ]
    assert all(list(r) == COLUMNS for r in found["rows"])
    assert found["protocol"] == perplexity.PROTOCOLS["fixed-targets"]
    # the same as the library gives
    samples = texts.samples("python-docs", 512, Tokenizer.from_file(str(catalogue.TOKENIZER)), 2)
    expected = perplexity.measure(catalogue.find(str(tiny["rope"])).load(), samples, [300, 512])
    ours = [r["loss"] for r in found["rows"] if r["checkpoint"] == "rope"]
    assert ours == [r.loss for r in expected]
    last = found["rows"][-1]
    assert last["loss"] is None and last["note"] == "undefined past its 300 trained positions"
    table = results.read(out)
    assert table.command == found["command"]
    assert list(table.rows.columns) == COLUMNS
    assert table.rows.loss[0] == pytest.approx(found["rows"][0]["loss"], rel=1e-6)
    assert "--out" not in table.command and "--documents 2" in table.command


def test_a_table_for_people(cli: Cli, tiny: dict[str, Path]) -> None:
    status, shown, _ = cli(
        "perplexity", tiny["rope"], "--lengths", 300, "--scaling", "none,linear:2", *ASK
    )
    lines = shown.splitlines()
    assert status == 0 and len(lines) == 4
    assert lines[2].split()[:3] == ["rope", "linear:2", "300"]
    assert "the same 256 target tokens" in lines[-1]


def test_a_stopped_run_keeps_what_it_has_and_goes_on(
    cli: Cli, tiny: dict[str, Path], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ("perplexity", tiny["rope"], "--lengths", "300,512", *ASK, "--json")
    expected = json.loads(cli(*ask)[1])["rows"]
    store.unlink()
    real, calls = perplexity.token_losses, list[int]()

    def stopping(*a: object) -> torch.Tensor:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*a)  # type: ignore[arg-type]

    monkeypatch.setattr(perplexity, "token_losses", stopping)
    refused(cli(*ask), 1, "Stopped", "go on", store)
    with store.open("ab") as file:
        file.write(b'["cut off by a st')
    status, shown, err = cli(*ask)
    assert status == 0 and "1 unfinished lines" in err and "the rest is kept" in err
    assert len(calls) == 5  # four pieces, of which one was begun twice
    again = json.loads(shown)["rows"]
    assert [r["loss"] for r in again] == [r["loss"] for r in expected]


def test_the_held_out_text_is_the_default_and_is_fetched(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = dict(licence="public-domain", split="val")
    lines = [
        json.dumps({**document, "source": s, "id": f"{s}/1", "text": f"{s} told a story. " * 200})
        for s in ("sotu", "web")
    ]

    def build(packages: Path, out: Path) -> None:
        out.with_name("heldout.jsonl").write_text("\n".join(lines), encoding="utf-8")

    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path))
    monkeypatch.setattr(downloads, "fetch", lambda folder, progress: folder)
    monkeypatch.setattr(corpus, "build", build)
    status, shown, err = cli("perplexity", tiny["alibi"], "--lengths", 256, "--by-source", "--json")
    rows = json.loads(shown)["rows"]
    assert status == 0 and "building" in err
    assert [(r["text"], r["source"], r["documents"]) for r in rows] == [
        ("heldout", "all", 2),
        ("heldout", "sotu", 1),
        ("heldout", "web", 1),
    ]
    refused(cli("perplexity", tiny["alibi"], "--lengths", 5000), 2, "at most")


def test_an_own_text_is_cut_into_passages(cli: Cli, tiny: dict[str, Path], tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("Words upon words, and nothing but words in here. " * 100, encoding="utf-8")
    ask = ("perplexity", tiny["alibi"], "--text-file", own, "--json", "--lengths")
    (row,) = json.loads(cli(*ask, 256)[1])["rows"]
    assert row["text"] == str(own) and row["documents"] > 1
    refused(cli(*ask, 9000), 2, "choose lengths of at most")


def test_what_cannot_be_is_refused_in_one_sentence(cli: Cli, tiny: dict[str, Path]) -> None:
    rope, alibi = tiny["rope"], tiny["alibi"]
    refused(cli("perplexity", alibi, "--lengths", 300, "--scaling", "yarn:4", *ASK), 2, "RoPE")
    both = cli("perplexity", rope, alibi, "--lengths", 300, "--scaling", "yarn:4", *ASK)
    refused(both, 2, "Leave the checkpoint or the setting out")
    refused(cli("perplexity", rope, "--lengths", 300, "--scaling", "yran:4", *ASK), 2, "yran")
    refused(cli("perplexity", rope, "--lengths", 9, *ASK), 2, "from 256")
    refused(cli("perplexity", rope, "--lengths", 300, "--text", "pasted"), 2, "--text-file")
    refused(cli("perplexity", rope, "--lengths", 300, "--text", "nix"), 2, "nix")
    refused(cli("perplexity", "nix", "--lengths", 300), 2, "nix")
    for wrong in ("", "0", "x", "300,", "1.5"):
        status, out, err = cli("perplexity", rope, "--lengths", wrong)
        assert (status, out) == (2, "") and "commas" in err.splitlines()[-1]
