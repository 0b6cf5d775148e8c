"""What isn't read, each with its sentence, and nothing of its size allocated."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.readers.huggingface.conftest import Model
from tests.readers.huggingface.families import ids, save
from tests.readers.huggingface.test_attention import read
from viz_core.errors import AtlasError, DamagedCheckpoint, UnknownName, UsageError
from viz_core.readers.huggingface import describe
from viz_core.trace import trace


def refused(kind: type[AtlasError], path: Path, **answers: str) -> str:
    """The one sentence with which the folder (or the loading of it) is refused."""
    with pytest.raises(kind) as caught:
        read(path, **answers)
    message = str(caught.value)
    assert re.fullmatch(r"Expected [^\n]*\.", message), message
    return message


def edit(path: Path, **changes: Any) -> None:
    """config.json in the folder with `changes`; None takes a key away."""
    file = path / "config.json"
    said = {**json.loads(file.read_text()), **changes}
    file.write_text(json.dumps({k: v for k, v in said.items() if v is not None}))


def replace(path: Path, **tensors: torch.Tensor) -> None:
    file = path / "model.safetensors"
    save_file({**load_file(file), **tensors}, file)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path, "llama")
    return tmp_path


def test_what_is_none_of_ours(tmp_path: Path) -> None:
    assert describe(tmp_path, {}) is None
    (tmp_path / "config.json").write_text('{"layers": 3}')
    assert describe(tmp_path, {}) is None
    assert describe(tmp_path / "config.json", {}) is None


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"a": ' + "9" * 5000 + "}"])
def test_config_that_is_no_object(folder: Path, text: str) -> None:
    (folder / "config.json").write_text(text)
    assert "JSON object" in refused(DamagedCheckpoint, folder)


def test_config_that_is_too_large(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "x": "y" * (1 << 20)}))
    assert "at most 1 MB" in refused(DamagedCheckpoint, folder)


def test_a_family_that_is_not_known(folder: Path) -> None:
    edit(folder, model_type="mamba")
    message = refused(UnknownName, folder)
    assert "'mamba'" in message and "gpt_neox, " in message


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"quantization_config": {"quant_method": "mxfp4"}}, "without quantisation"),
        ({"num_hidden_layers": 10**9}, "'num_hidden_layers' of at most 1,024"),
        ({"num_hidden_layers": 10**18}, "'num_hidden_layers' of at most 1,024"),
        ({"hidden_size": 10**12}, "'hidden_size' of at most"),
        ({"hidden_size": 2**31 - 1}, "config.json"),
        ({"hidden_size": "wide"}, "describes a model of family llama"),
        ({"num_attention_heads": 0}, "config.json"),
        ({"hidden_size": 64}, "that config.json describes"),
        ({"num_hidden_layers": 3}, "missing, first 'model.layers.2"),
        ({"rope_parameters": {"rope_type": "magic"}}, "config.json"),
        ({"hidden_act": "os.system"}, "describes a model of family llama"),
        ({"num_hidden_layers": 0}, "has 0 layers"),
        ({"num_hidden_layers": -1}, "config.json"),
        ({"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": "x"}}, "family"),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": "y"}}, "family"),
        ({"max_position_embeddings": 2**31 - 1, "rope_parameters": []}, "family"),
    ],
)
def test_settings_that_are_not_of_these_weights(
    folder: Path, changes: dict[str, Any], words: str
) -> None:
    edit(folder, **changes)
    assert words in refused(DamagedCheckpoint, folder)


ANYTHING: list[Any] = [
    *(None, 0, -1, 1, 3, 2**31 - 1, 10**9, 1e308, -1.5, 0.0, "x", "", True, False, [], {}, [1, 2]),
    *([None], ["full_attention"], {"rope_type": "yarn", "factor": 2.0, "rope_theta": 1e4}, "yarn"),
]


@pytest.mark.parametrize("family", ["bloom", "falcon", "gemma3_text", "gpt_neo", "roberta", "t5"])
def test_any_setting_makes_a_model_or_a_sentence(tmp_path: Path, family: str) -> None:
    save(tmp_path, family)
    said = json.loads((tmp_path / "config.json").read_text())
    rng = random.Random(family)
    made = 0
    for _ in range(40):
        names = rng.sample(sorted(said.keys() - {"model_type"}), rng.choice([1, 1, 2]))
        changed = said | {name: rng.choice(ANYTHING) for name in names}
        (tmp_path / "config.json").write_text(json.dumps(changed))
        try:
            trace(read(tmp_path), ids(20).tolist())
            made += 1
        except AtlasError as error:
            assert re.fullmatch(r"Expected [^\n]*\.", str(error)), error
    assert 0 < made < 40


def test_repetitions_in_a_list(tmp_path: Path) -> None:
    save(tmp_path, "gpt_neo")
    edit(tmp_path, attention_types=[[["global", "local"], 10**9]])
    assert "'attention_types' of at most" in refused(DamagedCheckpoint, tmp_path)


def test_tables_of_the_longest_length_squared(tmp_path: Path) -> None:
    save(tmp_path, "gpt_bigcode", n_positions=50)
    w = torch.zeros(100_000, 32)
    replace(tmp_path, **{"transformer.wpe.weight": w})
    edit(tmp_path, n_positions=100_000)
    assert "position tables" in refused(DamagedCheckpoint, tmp_path)


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("bert", {"position_embedding_type": "relative_key"}),
        ("distilbert", {"sinusoidal_pos_embds": True}),
    ],
)
def test_other_positions_in_a_known_family(
    tmp_path: Path, family: str, changes: dict[str, Any]
) -> None:
    save(tmp_path, family)
    edit(tmp_path, **changes)
    assert "absolute" in (m := refused(DamagedCheckpoint, tmp_path)) or "sinusoidal" in m


def test_no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    assert "there are none" in refused(DamagedCheckpoint, folder)


def test_weights_that_are_cut_short(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    assert "can't be read" in refused(DamagedCheckpoint, folder)


def test_numbers_of_another_type(folder: Path) -> None:
    for kind, name in ((torch.float8_e4m3fn, "F8_E4M3"), (torch.int64, "I64")):
        replace(folder, **{"lm_head.weight": torch.zeros(64, 32).to(kind)})
        assert name in refused(DamagedCheckpoint, folder)


def test_a_tensor_twice(folder: Path) -> None:
    save_file({"lm_head.weight": torch.zeros(64, 32)}, folder / "model-00002.safetensors")
    assert "each tensor once" in refused(DamagedCheckpoint, folder)


def test_a_shard_that_is_missing(tmp_path: Path) -> None:
    save(tmp_path, "llama").model.save_pretrained(tmp_path / "s", max_shard_size="20KB")
    next((tmp_path / "s").glob("model-00002-*")).unlink()
    assert "model-00002-" in refused(DamagedCheckpoint, tmp_path / "s")
    (tmp_path / "s/model.safetensors.index.json").unlink()
    assert "missing, first" in refused(DamagedCheckpoint, tmp_path / "s")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_none(folder: Path, value: float) -> None:
    name = "model.layers.1.mlp.up_proj.weight"
    w = load_file(folder / "model.safetensors")[name]
    w[3, 3] = value
    replace(folder, **{name: w})
    assert describe(folder, {}) is not None  # no weight is read for a description
    assert name in refused(DamagedCheckpoint, folder)


def test_attention_in_chunks(model: Model) -> None:
    subject = read(model("llama4_text").path)
    trace(subject, ids(128).tolist())
    with pytest.raises(UsageError, match="cut into chunks"):
        trace(subject, ids(129).tolist())


def test_answers_to_no_question(model: Model) -> None:
    assert "'stack'" in refused(UnknownName, model("llama").path, stack="encoder")
    assert "stack" in refused(UnknownName, model("t5").path, layer="3")
    assert "encoder, decoder" in refused(UnknownName, model("t5").path, stack="both")
