"""The shipped checkpoints: matched, as they say they are, and having learned what they should."""

from __future__ import annotations

import csv
import json
from itertools import pairwise

import pytest

from viz_core import catalogue
from viz_core.__main__ import main
from viz_core.catalogue import Checkpoint
from viz_core.encodings import get
from viz_core.readers import native
from viz_core.series import ORDER

FIELDS = {
    "id",
    "encoding",
    "layers",
    "heads",
    "head_dim",
    "width",
    "vocabulary",
    "trained_length",
    "parameters",
    "tokens_seen",
    "validation_loss",
    "sha256",
}


@pytest.fixture(scope="module")
def shipped() -> dict[str, Checkpoint]:
    found = catalogue.shipped()
    assert set(found) == set(ORDER), "checkpoints are missing: `make checkpoints`"
    return found


def test_list_shows_each_with_its_sizes_losses_and_hash(
    shipped: dict[str, Checkpoint], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [r["id"] for r in rows] == list(shipped)
    for row in rows:
        assert set(row) >= FIELDS
        assert all(row[name] is not None for name in FIELDS)
        assert row["encoding"] == row["id"]
        assert row["head_dim"] * row["heads"] == row["width"]
        assert row["sha256"] == native.sha256(shipped[row["id"]].path)


def test_list_as_a_table_has_a_line_for_each(
    shipped: dict[str, Checkpoint], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(shipped)
    assert "256-511" in lines[0]


def test_the_validation_loss_is_the_last_of_the_log(shipped: dict[str, Checkpoint]) -> None:
    for checkpoint in shipped.values():
        log = checkpoint.path.with_name("training.csv").read_text(encoding="utf-8")
        last = list(csv.DictReader(log.splitlines()))[-1]
        assert float(last["validation_loss"]) == checkpoint.facts["validation_loss"]
        assert int(last["tokens"]) == checkpoint.facts["tokens_seen"]


def test_all_are_matched(shipped: dict[str, Checkpoint]) -> None:
    rows = [c.row() for c in shipped.values()]
    for name in (
        "recipe_sha256",
        "corpus_sha256",
        "tokenizer_sha256",
        "tokens_seen",
        "trained_length",
    ):
        assert len({r[name] for r in rows}) == 1, name
    assert rows[0]["tokens_seen"] >= 8.4e6
    assert rows[0]["tokenizer_sha256"] == native.sha256(catalogue.TOKENIZER)


def test_all_use_their_context(shipped: dict[str, Checkpoint]) -> None:
    """By 0.2 nats at least; NoPE, which has the causal mask alone to tell order by, by 0.1."""
    for checkpoint in shipped.values():
        told = get(checkpoint.config.encoding).acts_on != "nothing"
        loss = checkpoint.facts["loss_by_position"]
        assert loss["256-511"] < loss["1-15"] - (0.2 if told else 0.1), checkpoint.id


def test_alibi_has_its_staircase(
    shipped: dict[str, Checkpoint], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["decay", "alibi", "--length", "512", "--texts", "4", "--json"]) == 0
    curves = json.loads(capsys.readouterr().out)["curves"]
    for layer in range(1, shipped["alibi"].config.layers + 1):
        slopes = [c["slope"] for c in curves if c["layer"] == layer]
        assert len(slopes) == shipped["alibi"].config.heads
        assert all(a < b < 0 for a, b in pairwise(slopes)), layer  # less steep with each head
