"""What is asked is what can't be known; answers, the file's own config and assumptions are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.readers.script import modules
from tests.readers.script.reading import asked, described, opened, saved, verdicts
from viz_core.errors import DamagedCheckpoint, UsageError
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import script


@pytest.fixture
def path(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    return tmp_path / "model.safetensors"


ALONE = {"attention", "divisor", "length"}
BLOCKS = {"divisor", "norms", "epsilon", "activation", "embedding_scale"}
ROPE = {"theta", "scaling", "factor", "layout", "rotary"}


def cases() -> dict[str, tuple[Callable[[], nn.Module], set[str]]]:
    return {
        "alibi": (lambda: modules.ALiBiAttention(32, 4), ALONE),
        "rope": (lambda: modules.RoPEAttention(32, 4, "half"), {*ALONE, "heads", "layout"}),
        "bare": (lambda: modules.Attention(32, 4), {*ALONE, "heads", "encoding", *ROPE}),
        "stack": (modules.Model, {*ALONE, *BLOCKS, "heads", "encoding", *ROPE}),
        "gated": (modules.Gated, {*ALONE, *BLOCKS, "heads", "norm", "head"}),
        "lecture": (modules.Lecture, BLOCKS),  # a module for each head, and the masks, say more
        "minGPT": (lambda: modules.GPT(nano=False), {"heads", "activation"}),
        "nanoGPT": (lambda: modules.GPT(nano=True), {"heads", "activation"}),
        "encoder": (lambda: modules.Encoder(True), {*ALONE, *BLOCKS, "heads"} - {"divisor"}),
        "vision": (
            modules.Vision,
            {*ALONE, "heads", "encoding", *ROPE, "order", "residual"},
        ),
        "t5": (
            lambda: modules.Bucketed(True),
            {*ALONE, "max_distance", "norms", "norm", "epsilon", "residual"},
        ),
        "ours": (
            lambda: Transformer(ModelConfig("nope", 2, 4, 32, 40, 24)),
            {"heads", "encoding", *ROPE, "length"},
        ),
        "ours-t5": (
            lambda: Transformer(ModelConfig("t5", 2, 4, 32, 40, 24)),
            {"max_distance", "length"},
        ),
    }


@pytest.mark.parametrize("name", cases())
def test_the_questions_are_what_the_file_leaves_open(name: str, path: Path) -> None:
    make, expected = cases()[name]
    found = described(saved(make(), path))
    if name == "vision":  # heads of 3 channels: nothing there can turn
        expected = expected - ROPE
    assert asked(found) == expected
    assert not found.answers
    told = verdicts(found)
    for question in found.questions:  # each assumption is a finding
        about = {"theta": "RoPE base", "layout": "RoPE layout", "length": "trained length"}
        assert told[about.get(question.name, question.name.replace("_", " "))] == "unknown"
        assert question.check(question.default) == question.default


def test_an_answer_changes_what_is_asked(path: Path) -> None:
    file = saved(modules.Model(), path)
    found = described(file, encoding="alibi", heads="4")
    assert {"exponent"} <= asked(found) and not asked(found) & ROPE
    assert found.answers == {"encoding": "alibi", "heads": 4}
    assert (found.config.encoding, dict(found.config.parameters)) == ("alibi", {"exponent": 8.0})
    assert verdicts(found)["heads"] == "note"


def test_assumptions_are_the_likeliest(path: Path) -> None:
    found = described(saved(modules.Attention(256, 4), path))
    assert found.config.head_dim == 64 and found.config.heads == 4
    minGPT, nanoGPT = (described(saved(modules.GPT(nano), path)) for nano in (False, True))
    defaults = [{q.name: q.default for q in d.questions} for d in (minGPT, nanoGPT)]
    assert [d["activation"] for d in defaults] == ["gelu-tanh", "gelu"]


def test_a_config_beside_the_weights_is_an_answer(path: Path) -> None:
    said = {"model_args": {"n_head": 8, "block_size": 24, "bias": True}, "iter_num": 5}
    found = described(saved(modules.GPT(nano=True), path, said))
    assert found.config.heads == 8 and asked(found) == {"activation"}
    assert found.facts["config"]["iter_num"] == 5
    said = {"n_head": 2, "embd_pdrop": 0.1}  # minGPT's settings
    assert asked(described(saved(modules.GPT(nano=False), path, said))) == set()
    said = {"causal": False, "nhead": 4, "norm_first": False, "activation": "GELU"}
    found = described(saved(modules.Encoder(True), path, said))
    assert not asked(found) & {"attention", "heads", "norms", "activation"}
    assert not found.config.causal


def test_a_config_that_the_tensors_contradict_is_told(path: Path) -> None:
    found = described(saved(modules.GPT(nano=True), path, {"n_head": 4, "block_size": 99}))
    assert found.config.length == 24
    (finding,) = [f for f in found.findings if f.verdict == "differs"]
    assert finding.about == "trained length" and "99" in finding.words and "24" in finding.words


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"n_head": 5}, "heads that divide 32"),
        ({"n_head": "many"}, "heads a whole number"),
        ({"n_head": 4, "activation": "mish"}, "'mish'"),
        ([1, 2], "JSON object"),
    ],
)
def test_a_config_that_cant_be_followed_is_refused(config: object, said: str, path: Path) -> None:
    with pytest.raises(DamagedCheckpoint, match=said):
        script.describe(saved(modules.GPT(nano=True), path, config), {})


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"heads": 5}, "heads that divide 32 channels"),
        ({"heads": 0}, "heads a whole number between 1 and 32"),
        ({"heads": "x"}, "heads a whole number"),
        ({"encoding": "cope"}, "encoding among nope, rope, alibi, sinusoidal"),
        ({"encoding": "learned"}, "'learned'"),
        ({"colour": "red"}, "an answer to a question among heads, encoding"),
        ({"encoding": "alibi", "theta": 5}, "'theta'"),
        ({"scaling": "yarn", "factor": 2}, "a trained length"),
        ({"rotary": 64}, "at most the head's 4 channels"),
        ({"rotary": 3}, "even head width"),
        ({"heads": 32, "encoding": "rope"}, "even head width"),
    ],
)
def test_a_wrong_answer_gives_one_sentence(
    answers: dict[str, object], said: str, path: Path
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        script.describe(saved(modules.Model(), path), answers)
    message = str(caught.value)
    assert "\n" not in message and message.count(". ") == 0 and message.endswith(".")


def test_what_was_answered_is_loaded_again(path: Path) -> None:
    found, subject = opened(saved(modules.Model(), path), encoding="alibi", heads=2)
    assert subject.config == found.config and subject.config.heads == 2
    saved(modules.Vision(), path)
    with pytest.raises(DamagedCheckpoint, match="another file now"):
        script.load(found, torch.device("cpu"))


def test_a_folder_with_a_tokenizer(tmp_path: Path) -> None:
    saved(modules.GPT(nano=True), tmp_path / "ckpt.safetensors")
    (tmp_path / "tokenizer.json").write_text("{}")
    found = described(tmp_path)
    assert found.tokenizer == tmp_path / "tokenizer.json" and found.path == tmp_path
    (tmp_path / "config.json").write_text('{"n_head": 2}')
    assert described(tmp_path).config.heads == 2
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    assert script.describe(tmp_path, {}) is None
