"""What others hold on to: commands' options, keys of the store, a tray, files, a sweep's table."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from PIL import Image

from tests.conftest import Cli
from tests.frozen.kept import kept
from tests.frozen.summaries import differences
from viz_core import keys
from viz_core.catalogue import Checkpoint
from viz_core.export import embedded
from viz_core.model import ModelConfig, Transformer
from viz_core.plates.tray import Tray
from viz_core.readers import native
from viz_core.texts import Passage
from viz_core.types import Sample

COMMANDS = [
    "", "list", "inspect", "train", "card", "map", "decay", "probes", "signatures", "mechanism",
    "perplexity", "attribute", "figure", "sweep", "findings", "corpus",
]  # fmt: skip
WIDTH = "100"  # columns


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_commands(command: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", WIDTH)
    status, out, _ = cli(*command.split(), "--help")
    found, before = kept("help.json", command, out.splitlines())
    assert status == 0 and found == before


def test_no_command_is_without_its_help(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", WIDTH)
    _, out, _ = cli("--help")
    assert set(re.findall(r"^    ([a-z]+) ", out, re.MULTILINE)) == {*COMMANDS} - {""}


def test_keys_of_the_store() -> None:
    checkpoint = cast("Checkpoint", SimpleNamespace(sha256="a" * 64))
    passages = [Passage([1, 2, 3], "b" * 64), Passage([4, 5, 6], "c" * 64)]
    sample = Sample("x", "y", (1, 2), "d" * 64)
    found = {
        "survey": keys.survey(checkpoint, passages, "log_mean"),
        "survey, largest": keys.survey(checkpoint, passages, "probability", "max"),
        "survey, scaled": keys.survey(checkpoint, passages, "log_mean", setting="ntk:4"),
        "window": keys.window(checkpoint, passages, "log_mean", (1, 2), ((0, 64), (0, 32))),
        "window, centred": keys.window(
            checkpoint, passages[:1], "centred", (0, 7), ((8, 9), (1, 2))
        ),
        "portrait": keys.portrait(checkpoint, passages),
        "portrait, scaled": keys.portrait(checkpoint, passages, "yarn:fit"),
        "losses": keys.losses(checkpoint, [sample], 512, "fixed-targets"),
        "losses, scaled": keys.losses(checkpoint, [sample], 2048, "per-position", "linear:4"),
        "losses, two": keys.losses(checkpoint, [sample, sample], 512, "sliding-window"),
    }
    now, before = kept("keys.json", "digests", {name: key.digest for name, key in found.items()})
    assert now == before


TRAY = """{"program": "Attention Atlas", "tray": 1,
 "pins": [{"figure": "training-curves", "options": {}, "title": "", "caption": ""},
  {"figure": "encoding-curves", "options": {"encodings": "rope"}, "title": "", "caption": ""}],
 "target": {"venue": "icml", "columns": 2, "across": 1}}"""


def test_a_tray_is_read_as_it_was() -> None:
    first = Tray.from_json(TRAY)
    words = [pin.word() for pin in first.pins]
    assert words == ["training-curves", "encoding-curves~encodings-rope"]
    assert (first.target.venue, first.target.columns, first.target.across) == ("icml", 2, 1)
    now, before = kept("tray.json", "again", json.loads(first.to_json()))
    assert now == before


@pytest.mark.parametrize(
    "kind", ["pdf", "svg", "png", "pgf.zip", "html", "csv", "npz", "tex", "zip"]
)
def test_a_file_of_each_kind(kind: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / f"curves.{kind}"
    status, _, err = cli("figure", "encoding-curves", "--venue", "icml", "--out", path)
    assert status == 0, err
    assert [*differences(*kept("files.json", kind, _about(path.name, path.read_bytes())))] == []


def _about(name: str, data: bytes) -> Any:
    """What a file holds, but for what rounding decides."""
    match name.rpartition(".")[2]:
        case "pdf":
            return re.findall(rb"/MediaBox \[([^\]]*)\]", data)[0].decode().split()
        case "svg":
            return re.findall(r'viewBox="([^"]*)"', data.decode())[0].split()
        case "png":
            return list(Image.open(io.BytesIO(data)).size)
        case "npz":
            held = np.load(io.BytesIO(data), allow_pickle=False)
            return {n: [str(held[n].dtype), list(held[n].shape)] for n in sorted(held.files)}
        case "csv":
            rows = [line for line in data.decode().splitlines() if not line.startswith("#")]
            return [rows[0], len(rows)]
        case "tex":
            return [line for line in data.decode().splitlines() if not line.startswith("%")]
        case "zip":
            with zipfile.ZipFile(io.BytesIO(data)) as bundle:
                return {n: _about(n, bundle.read(n)) for n in sorted(bundle.namelist())}
    return None


def test_what_a_figure_says_of_where_it_comes_from(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "curves.svg"
    assert cli("figure", "encoding-curves", "--venue", "icml", "--out", path)[0] == 0
    said = json.loads(embedded.read(path).json())
    assert len(said.pop("data")) == 64 and said.pop("version")
    now, before = kept("files.json", "provenance", said)
    assert now == before


def test_a_sweep_s_table(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATLAS_STORE", str(tmp_path / "store"))
    torch.manual_seed(0)
    native.save(
        Transformer(ModelConfig("rope", 2, 2, 16, 4096, 64)), tmp_path / "a.safetensors", {}
    )
    (tmp_path / "sweep.toml").write_text(
        'checkpoints = ["*.safetensors"]\nlengths = [128]\ntexts = ["python-docs"]\npassages = 2\n'
        'scalings = ["none", "ntk:4"]\nmeasurements = ["maps", "decay", "signatures"]\n',
        encoding="utf-8",
    )
    status, _, err = cli("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "table.csv")
    assert status == 0, err
    lines = (tmp_path / "table.csv").read_text("utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    found = {"columns": list(rows[0]), "rows": len(rows)}
    now, before = kept("sweep.json", "table", found)
    assert now == before
