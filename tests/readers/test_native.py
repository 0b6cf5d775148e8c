"""The native checkpoint: round trips, and every way found for a file to be damaged or hostile."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from viz_core import devices
from viz_core.encodings import Value, all_encodings
from viz_core.errors import AtlasError, DamagedCheckpoint
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native

PARAMETERS: dict[str, dict[str, Value]] = {
    "rope": {"theta": 500.0, "scaling": "yarn", "factor": 2.0, "layout": "interleaved"},
    "t5": {"buckets": 8, "max_distance": 16},
    "alibi": {"exponent": 4.0},
}
Weights = dict[str, Tensor]


def model(encoding: str = "alibi") -> Transformer:
    torch.manual_seed(0)
    parameters = PARAMETERS.get(encoding, {})
    return Transformer(ModelConfig(encoding, 2, 2, 16, 30, 24, mlp=3, parameters=parameters))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    native.save(model(), tmp_path / "model.safetensors", {"seed": 5})
    return tmp_path / "model.safetensors"


def rewritten(path: Path, change: Callable[[dict[str, Any], Weights], object]) -> None:
    """The file at `path` with its description and weights put through `change`."""
    weights = load_file(path)
    with safe_open(path, framework="pt") as file:
        facts = json.loads(file.metadata()["attention_atlas"])
    change(facts, weights)
    save_file(weights, path, metadata={"attention_atlas": json.dumps(facts)})


def described(path: Path, text: str) -> None:
    """The file at `path` with `text` as its description."""
    save_file(load_file(path), path, metadata={"attention_atlas": text})


def refused(path: Path) -> str:
    """What is said of the damaged file: one sentence on one line, the same from both readers."""
    said = []
    for act in (native.header, native.read):
        began, before = time.process_time(), devices.peak_bytes(torch.device("cpu"))
        with pytest.raises(DamagedCheckpoint) as caught:
            act(path)
        assert time.process_time() - began < 5  # of work: waiting for a busy machine is none
        assert devices.peak_bytes(torch.device("cpu")) - before < 1 << 28
        said.append(str(caught.value))
    message = said[0]
    assert said[1] == message and path.name in message
    assert "\n" not in message and message.endswith(".") and ". " not in message
    return message


@pytest.mark.parametrize("encoding", all_encodings())
def test_a_checkpoint_comes_back_rounded_to_half_precision(encoding: str, tmp_path: Path) -> None:
    made, file = model(encoding), tmp_path / "model.safetensors"
    facts = {"tokens_seen": 12, "recipe": {"rate": 0.1}, "note": "größer ⟨x⟩"}
    native.save(made, file, facts)
    back, told = native.read(file)
    assert back.config == made.config and not back.training
    assert told == {**facts, "format": 1, "config": told["config"]}
    assert native.header(file) == (made.config, told)
    state = made.state_dict()
    assert back.state_dict().keys() == state.keys()
    for name, weight in back.state_dict().items():
        assert weight.dtype == torch.float32 and not weight.requires_grad
        assert torch.equal(weight, state[name].half().float())
    ids = torch.arange(20)[None]
    with torch.no_grad():
        torch.testing.assert_close(back(ids).logits, made(ids).logits, atol=0.02, rtol=0.02)


def test_saving_again_changes_no_byte(path: Path) -> None:
    first = native.sha256(path)
    made, facts = native.read(path)
    del facts["config"], facts["format"]
    native.save(made, path, facts)
    assert native.sha256(path) == first and list(path.parent.iterdir()) == [path]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AtlasError, match=r"none\.safetensors; there is no such file"):
        native.header(tmp_path / "none.safetensors")


@pytest.mark.parametrize("part", [0, 1, 7, 8, 300, -1])
def test_a_truncated_file(path: Path, part: int) -> None:
    path.write_bytes(path.read_bytes()[:part])
    assert "can't be read" in refused(path)


@pytest.mark.parametrize(
    "content",
    [
        b"not a checkpoint at all, but a text of some length",
        b"PK\x03\x04" + bytes(100),
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 10**8) + b"{}",
        struct.pack("<Q", 4) + b"[[[[",
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 50_000) + b'{"a":' * 10_000,
    ],
)
def test_what_is_no_safetensors_file(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    refused(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "model.safetensors"
    folder.mkdir()
    refused(folder)


@pytest.mark.parametrize("metadata", [None, {}, {"format": "pt"}])
def test_a_safetensors_file_without_description(
    path: Path, metadata: dict[str, str] | None
) -> None:
    save_file(load_file(path), path, metadata=metadata)
    assert "without the 'attention_atlas' description" in refused(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "3",
        '"config"',
        "{}",
        '{"format": 1}',
        '{"format": 1, "config": null}',
        '{"format": 1, "config": []}',
        '{"format": 1, "config": {}}',
        '{"format": 1, "config": {"encoding": "nope"}}',
        '{"format": ' + "9" * 5000 + "}",
        "[" * 200_000,
        '{"config":' * 200_000,
        '{"format": 1, "config": {"layers": ' + "[" * 50_000 + "]" * 50_000 + "}}",
    ],
    ids=lambda text: text[:24],
)
def test_a_description_that_is_not_the_json_it_should_be(path: Path, text: str) -> None:
    described(path, text)
    assert "in the description of" in refused(path)


@pytest.mark.parametrize("wrong", [0, 2, "1", None, [1]])
def test_another_format(path: Path, wrong: object) -> None:
    rewritten(path, lambda facts, _: facts.update(format=wrong))
    assert "Expected format 1" in refused(path)


SIZES = ("layers", "heads", "width", "vocabulary", "length", "mlp")


@pytest.mark.parametrize(
    "wrong",
    [0, -1, 1.5, 2.0, True, None, "2", [2], float("nan"), float("inf"), 10**9, 2**31, 10**30],
    ids=repr,
)
@pytest.mark.parametrize("size", SIZES)
def test_sizes_that_are_none_or_that_no_file_has(path: Path, size: str, wrong: object) -> None:
    """A billion layers or channels must not be built before the weights have been looked at."""
    if size == "length" and wrong == 10**9:
        wrong = 10**10  # a billion would do: only a learned table's weights show the length
    rewritten(path, lambda facts, _: facts["config"].update({size: wrong}))
    refused(path)


@pytest.mark.parametrize("length", [25, 10**9])
def test_a_learned_table_of_another_length(tmp_path: Path, length: int) -> None:
    file = tmp_path / "model.safetensors"
    native.save(model("learned"), file, {})
    rewritten(file, lambda facts, _: facts["config"].update(length=length))
    assert "'encoding.table.weight'" in refused(file)


def test_sizes_of_a_billion_in_all_places(path: Path) -> None:
    billion = 10**9
    sizes = dict.fromkeys(SIZES, billion) | {"heads": billion // 2}
    rewritten(path, lambda facts, _: facts["config"].update(sizes))
    refused(path)


def test_empty_weights_of_absurd_shape(path: Path) -> None:
    """A tensor with a 0 in its shape takes no bytes, whatever else stands there."""

    def change(facts: dict[str, Any], weights: Weights) -> None:
        facts["config"].update(width=10**9, heads=2)
        weights["embedding.weight"] = torch.zeros(0, 10**9)

    rewritten(path, change)
    refused(path)


@pytest.mark.parametrize(
    ("size", "value"),
    [("layers", 1), ("layers", 3), ("width", 8), ("width", 32), ("vocabulary", 31), ("mlp", 4)],
)
def test_sizes_that_do_not_fit_the_weights(path: Path, size: str, value: int) -> None:
    rewritten(path, lambda facts, _: facts["config"].update({size: value}))
    assert "fit its description" in refused(path)


@pytest.mark.parametrize("heads", [3, 5, 16])
def test_heads_that_do_not_divide_the_width_in_pairs(path: Path, heads: int) -> None:
    rewritten(path, lambda facts, _: facts["config"].update(heads=heads))
    refused(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda facts, weights: weights.pop("norm.weight"),
        lambda facts, weights: weights.pop("embedding.weight"),
        lambda facts, weights: weights.pop("blocks.1.out.weight"),
        lambda facts, weights: weights.clear(),
        lambda facts, weights: weights.update(extra=torch.zeros(3)),
        lambda facts, weights: weights.update({"norm.weight": torch.zeros(4, 4)}),
        lambda facts, weights: weights.update({"norm.weight": torch.zeros(16, dtype=torch.int64)}),
        lambda facts, weights: weights.update(
            {"norm.weight": torch.zeros(16, dtype=torch.complex64)}
        ),
        lambda facts, weights: facts["config"].update(encoding="learned", parameters={}),
        lambda facts, weights: facts["config"].update(encoding="t5", parameters={}),
    ],
)
def test_weights_that_are_missing_too_many_or_of_another_kind(
    path: Path, change: Callable[[dict[str, Any], Weights], object]
) -> None:
    rewritten(path, change)
    assert "fit its description" in refused(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_weights_that_are_no_numbers(path: Path, value: float) -> None:
    rewritten(path, lambda facts, weights: weights["blocks.1.up.weight"][3, 4].fill_(value))
    native.header(path)  # the header is sound
    with pytest.raises(DamagedCheckpoint, match="NaN or infinite") as caught:
        native.read(path)
    assert ". " not in str(caught.value)


@pytest.mark.parametrize(
    "config",
    [
        {"encoding": "rotary"},
        {"encoding": "../nope"},
        {"encoding": "_contract"},
        {"encoding": "a\nb\ud800"},
        {"parameters": {"slope": 3}},
        {"parameters": {"exponent": 1e6}},
        {"parameters": {"exponent": "steep"}},
        {"parameters": {"exponent": [8]}},
        {"parameters": {"exponent": 10**400}},
        {"encoding": "rope", "parameters": {"scaling": "magic"}},
        {"encoding": "rope", "parameters": {"scaling": "ntk", "factor": float("nan")}},
        {"encoding": "rope", "heads": 8, "parameters": {"scaling": "ntk"}},
        {"encoding": "t5", "parameters": {"buckets": 64, "max_distance": 16}},
    ],
    ids=repr,
)
def test_an_encoding_that_is_described_wrongly(path: Path, config: dict[str, Any]) -> None:
    rewritten(path, lambda facts, _: facts["config"].update(config))
    assert "describes its encoding wrongly: Expected" in refused(path)


@pytest.mark.parametrize(
    "config",
    [
        {"encoding": None},
        {"encoding": []},
        {"encoding": {}},
        {"parameters": None},
        {"parameters": [["exponent", 8]]},
        {"parameters": "exponent"},
        {"surprise": 1},
        {"encoding": 5},
    ],
    ids=repr,
)
def test_values_of_the_wrong_kind(path: Path, config: dict[str, Any]) -> None:
    rewritten(path, lambda facts, _: facts["config"].update(config))
    refused(path)
