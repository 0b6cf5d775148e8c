"""`inspect`: our own checkpoint, a state dict with its questions, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from tests.conftest import Cli
from tests.readers.script import modules
from tests.readers.script.reading import saved
from viz_core.catalogue import SHIPPED
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native

KEYS = {
    *("format", "family", "encoding", "layers", "heads", "kv_heads", "head_dim"),
    *("trained_length", "parameters", "findings", "questions", "answers"),
}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    return saved(modules.Model(), tmp_path / "article.safetensors")


def test_a_state_dict_as_json(state: Path, cli: Cli) -> None:
    status, out, err = cli("inspect", state, "--json")
    said = json.loads(out)
    assert (status, err) == (0, "") and said.keys() >= KEYS
    assert (said["format"], said["family"]) == ("state-dict", "attention-stack")
    assert said["encoding"]["id"] == "rope" and said["encoding"]["parameters"]["theta"] == 10000
    assert (said["layers"], said["trained_length"], said["answers"]) == (3, None, {})
    assert {"about", "verdict", "words"} == said["findings"][0].keys()
    assert any(f["about"] == "inverse frequencies" for f in said["findings"])  # of the audit
    question = next(q for q in said["questions"] if q["name"] == "heads")
    assert (question["default"], question["low"], question["high"]) == (said["heads"], 1, 32)


def test_answers_are_followed(state: Path, cli: Cli) -> None:
    answers = ("--answer", "encoding=alibi", "--answer", "heads=2", "--answer", "length=128")
    said = json.loads(cli("inspect", state, *answers, "--json")[1])
    assert said["encoding"] == {"id": "alibi", "parameters": {"exponent": 8.0}}
    assert (said["heads"], said["kv_heads"], said["head_dim"]) == (2, 2, 16)
    assert said["trained_length"] == 128
    assert said["answers"] == {"encoding": "alibi", "heads": 2, "length": 128}


def test_a_table_for_people(state: Path, cli: Cli) -> None:
    status, out, _ = cli("inspect", state, "--answer", "heads=2")
    lines = out.splitlines()
    assert status == 0 and lines[0].split() == ["checkpoint", "article"]
    assert "heads           2, of 16 channels" in lines
    assert any(line.startswith("unknown") and "Assumed rope" in line for line in lines)
    assert any(line.split()[:2] == ["heads", "2"] for line in lines[20:])  # what was answered
    assert any(line.startswith("activation") and "gelu-tanh" in line for line in lines)


def test_a_native_checkpoint_has_no_questions(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "own.safetensors"
    native.save(Transformer(ModelConfig("t5", 2, 4, 32, 40, 24)), file, {})
    said = json.loads(cli("inspect", file, "--json")[1])
    assert (said["format"], said["questions"], said["trained_length"]) == ("native", [], 24)
    assert said["encoding"]["id"] == "t5" and said["parameters"] > 0
    assert "--answer" not in cli("inspect", file)[1]


@pytest.mark.skipif(not (SHIPPED / "alibi").is_dir(), reason="no shipped checkpoint")
def test_a_shipped_one_by_its_id(cli: Cli) -> None:
    said = json.loads(cli("inspect", "alibi", "--json")[1])
    assert (said["encoding"]["id"], said["family"]) == ("alibi", "attention-atlas")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--answer", "heads=5"), 2, "divide 32 channels"),
        (("--answer", "colour=red"), 2, "an answer to a question"),
        (("--answer", "heads"), 2, "NAME=VALUE"),
        (("--answer", "encoding=a&heads=4"), 2, "'a&heads=4'"),
    ],
)
def test_a_wrong_answer_is_one_line(
    words: tuple[str, ...], status: int, said: str, state: Path, cli: Cli
) -> None:
    got, out, err = cli("inspect", state, *words)
    assert (got, out) == (status, "") and said in err
    assert err.splitlines()[-1].count(". ") == 0


def test_where_there_is_nothing(tmp_path: Path, cli: Cli) -> None:
    status, out, err = cli("inspect", tmp_path / "none.safetensors")
    assert (status, out) == (1, "") and "there is none" in err
