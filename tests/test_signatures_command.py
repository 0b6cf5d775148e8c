"""`signatures`: a row per head, the portraits beside it, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from viz_core import catalogue, portraits, results, texts, variants
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native
from viz_core.signatures import summary

Cli = Callable[..., tuple[int, str, str]]
ASK = ("--text", "python-docs", "--texts", 2, "--length", 100, "--device", "cpu")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    paths = {}
    for name in ("alibi", "rope"):
        torch.manual_seed(0)
        model = Transformer(ModelConfig(name, 2, 2, 16, 4096, 128))
        with torch.no_grad():
            model.embedding.weight.mul_(50)
        paths[name] = tmp_path_factory.mktemp(name) / "model.safetensors"
        native.save(model, paths[name], {})
    return paths


def test_rows_and_portraits_are_the_librarys(
    cli: Cli, tiny: dict[str, Path], tmp_path: Path
) -> None:
    table = tmp_path / "signatures.csv"
    status, out, _ = cli(
        *("signatures", *tiny.values(), *ASK, "--json", "--out", table, "--curves", tmp_path)
    )
    assert status == 0
    document = json.loads(out)
    tokenizer = Tokenizer.from_file(str(catalogue.TOKENIZER))
    ids = [p.ids for p in texts.passages("python-docs", 100, 2, tokenizer)]
    kept = results.portraits(tmp_path)
    assert len(document["rows"]) == 2 * 4 and len(kept) == 2
    for name, portrait in kept.items():
        encoding = portrait.portrait.encoding
        model = catalogue.find(str(tiny[encoding])).load()
        expected = portraits.measure(model, ids, tokenizer)
        np.testing.assert_allclose(portrait.portrait.curve, expected.curve, rtol=1e-6, atol=1e-6)
        assert portrait.checkpoint == native.sha256(tiny[encoding])
        assert portrait.command == document["command"]
        rows = [r for r in document["rows"] if r["checkpoint"] == name]
        for row, want in zip(rows, summary.rows(expected), strict=True):
            assert row["length"] == 100 and row["texts"] == 2 and row["setting"] == ""
            for column, value in want.items():
                exact = not isinstance(value, float)
                assert row[column] == (value if exact else pytest.approx(value, rel=1e-6))
    shown = results.read(table)
    assert shown.command == document["command"] and "--out" not in shown.command
    assert len(shown.rows) == 8


def test_as_a_table_under_a_setting(cli: Cli, tiny: dict[str, Path]) -> None:
    status, out, _ = cli("signatures", tiny["rope"], *ASK, "--scaling", "linear:4")
    lines = out.splitlines()
    assert status == 0 and len(lines) == 5
    assert lines[0].split()[:4] == ["checkpoint", "layer", "head", "kind"]
    assert cli("signatures", tiny["rope"], *ASK)[1] != out
    model = variants.vary(catalogue.find(str(tiny["rope"])).load(), "linear:4", 100)
    assert model.config.parameters == {"scaling": "linear", "factor": 4.0}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--length", 63), "from 64 on"),
        (("--scaling", "exponent:6"), "ALiBi"),
        (("--text", "prose", "--length", 9000), "Choose at most"),
        (("--text", "nix"), "'nix'"),
    ],
)
def test_what_cannot_be_measured_is_said(
    cli: Cli, tiny: dict[str, Path], given: tuple[object, ...], words: str
) -> None:
    status, out, error = cli("signatures", tiny["rope"], *ASK, *given)
    assert status in (1, 2) and out == "" and words in error
