"""Models whose layers mix windows and full attention: each layer's own distances, or a blank."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import torch

from tests.conftest import Cli
from tests.readers.huggingface.families import ids, save

LENGTH, WINDOW = 120, 24
TEXT = ("--length", LENGTH)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(" ".join(map(str, ids(LENGTH).tolist())))
    return tmp_path / "text.txt"


@pytest.mark.parametrize("estimator", ["mean-probability", "row-fixed-effects"])
@pytest.mark.parametrize("family", ["gemma2", "gpt_neo", "modernbert"])
def test_decay_has_each_layers_own_pairs(
    tmp_path: Path, cli: Cli, text: Path, family: str, estimator: str
) -> None:
    sizes = {"gpt_neo": {"window_size": WINDOW}, "modernbert": {"local_attention": 16}}
    saved = save(tmp_path / "m", family, **sizes.get(family, {}))
    options = ("--text-file", text, "--estimator", estimator, "--sink", 0, "--json")
    out = tmp_path / "curves.csv"
    status, said, err = cli("decay", tmp_path / "m", *TEXT, *options, "--out", out)
    assert status == 0, err
    found = json.loads(said)
    lengths = {len(c["curve"]) for c in found["curves"]}
    assert len(lengths) == 2 and len(found["pairs"]) == max(lengths)
    assert all(len(c["curve"]) == len(c["pairs"]) for c in found["curves"])
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(c["curve"]) for c in found["curves"])
    if estimator == "mean-probability":
        theirs = saved.model(ids(LENGTH)[None], output_attentions=True).attentions
        for c in found["curves"]:
            own = theirs[c["layer"] - 1][0, c["head"] - 1].detach()
            for d in (0, 1, 7):
                mean = torch.diagonal(own, -d).mean()
                torch.testing.assert_close(torch.tensor(c["curve"][d]), mean, atol=1e-5, rtol=0)
                assert c["pairs"][d] == LENGTH - d


def test_signatures_are_blank_where_a_window_leaves_nothing_to_tell(
    tmp_path: Path, cli: Cli
) -> None:
    save(tmp_path / "m", "modernbert", local_attention=128)
    options = ("--length", 300, "--text", "random", "--texts", 2, "--json")
    status, said, err = cli("signatures", tmp_path / "m", *options)
    rows = json.loads(said)["rows"]
    assert status == 0 and "a window of 65 tokens" in err
    assert {r["kind"] for r in rows} == {r["reach_90"] for r in rows} == {None}
    assert all(isinstance(r["slope"], float) for r in rows)
