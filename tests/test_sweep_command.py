"""`sweep`: the table it writes, the status it ends with, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch

from tests.conftest import Cli
from viz_core import results
from viz_core.jobs import sweep
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native

Write = Callable[..., Path]
SPEC = """
checkpoints = ["*.safetensors"]
lengths = [256]
texts = ["python-docs"]
passages = 2
measurements = {measurements}

[perplexity]
documents = 2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two checkpoints beside a spec, and a store of their own."""
    monkeypatch.setenv("ATLAS_STORE", str(tmp_path / "store"))
    for name in ("alibi", "rope"):
        torch.manual_seed(0)
        model = Transformer(ModelConfig(name, 2, 2, 16, 4096, 256))
        native.save(model, tmp_path / f"{name}.safetensors", {})
    text = SPEC.format(measurements='["decay", "perplexity"]')
    (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_table_as_json_parquet_and_csv(cli: Cli, folder: Path) -> None:
    status, out, _ = cli(
        "sweep", folder / "sweep.toml", "--json", "--out", folder / "table.parquet"
    )
    told = json.loads(out)
    assert status == 0 and told["cells"] == {"computed": 4}
    assert told["command"].startswith("python -m viz_core sweep ")
    assert len(told["rows"]) == 2 * (4 + 1)
    frame = pd.read_parquet(folder / "table.parquet")
    assert frame.attrs["command"] == told["command"]
    assert list(frame.columns) == list(told["rows"][0])
    assert frame.slope.dropna().tolist() == pytest.approx(
        [r["slope"] for r in told["rows"] if r["slope"] is not None]
    )

    status, out, _ = cli("sweep", folder / "sweep.toml", "--out", folder / "table.csv")
    assert status == 0 and out.splitlines()[-1] == "4 found"
    table = results.read(folder / "table.csv")
    assert list(table.rows.columns) == list(frame.columns)
    assert table.rows.loss.dropna().tolist() == pytest.approx(frame.loss.dropna().tolist())


def test_looking_computes_nothing(cli: Cli, folder: Path) -> None:
    status, out, _ = cli("sweep", folder / "sweep.toml", "--look")
    assert status == 0 and out.splitlines()[-1] == "4 missing"
    assert not list((folder / "store").glob("??/*"))


def test_figures_of_what_there_is(cli: Cli, folder: Path) -> None:
    assert cli("sweep", folder / "sweep.toml", "--look", "--figures", folder / "none")[0] == 0
    assert not list((folder / "none").iterdir())
    status, out, _ = cli("sweep", folder / "sweep.toml", "--figures", folder / "figures")
    drawn = ["decay-python-docs-256.pdf", "losses-python-docs.pdf"]
    assert status == 0 and out.splitlines()[-2:] == [str(folder / "figures" / n) for n in drawn]
    for name in drawn:
        assert (folder / "figures" / name).read_bytes().startswith(b"%PDF")


def test_what_failed_is_told_and_the_rest_is_there(cli: Cli, folder: Path) -> None:
    (folder / "broken.safetensors").write_bytes(b"nothing at all")
    status, out, err = cli("sweep", folder / "sweep.toml", "--json")
    told = json.loads(out)
    assert status == 1 and told["cells"] == {"computed": 4, "failed": 2}
    assert "2 of 6 cells failed, the first, broken.safetensors at 256 tokens" in err
    reasons = {r["reason"] for r in told["rows"] if r["checkpoint"] == "broken.safetensors"}
    assert len(reasons) == 1 and "broken.safetensors" in reasons.pop()


def test_who_stops_it_is_told_how_to_go_on(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = sweep.inline.run, list[int]()

    def stopped(*given: object) -> object:
        for outcome in real(*given):  # type: ignore[arg-type]
            yield outcome
            calls.append(1)
            raise KeyboardInterrupt

    monkeypatch.setattr(sweep.inline, "run", stopped)
    status, out, err = cli("sweep", folder / "sweep.toml")
    assert (status, out) == (1, "") and "run the same command again to go on" in err
    monkeypatch.setattr(sweep.inline, "run", real)
    status, out, _ = cli("sweep", folder / "sweep.toml")
    assert status == 0 and out.splitlines()[-1] == "1 found, 3 computed"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("nix.toml",), "Expected a sweep in TOML at nix.toml"),
        (("sweep.toml", "--out", "table.txt"), "end in .parquet or .csv; got table.txt"),
        (("sweep.toml", "--out", "nix/table.csv"), "a folder that exists"),
        (("sweep.toml", "--workers", 2), "--workers with the executor local; got it with inline"),
        (("sweep.toml", "--executor", "sge"), "invalid choice"),
    ],
)
def test_what_it_refuses(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[object, ...], words: str
) -> None:
    monkeypatch.chdir(folder)
    status, out, err = cli("sweep", *given)
    assert (status, out) == (2, "") and words in err
