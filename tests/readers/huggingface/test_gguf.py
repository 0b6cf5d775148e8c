"""GGUF files from end to end: what they say of position is computed, or they are refused."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from torch import Tensor

from pages._shared import uploads_known, uploads_room
from pages.checkpoints import admission
from tests.conftest import Cli
from tests.readers.huggingface.families import Saved, ids, save
from tests.readers.huggingface.gguf_files import write
from tests.readers.huggingface.test_describe import lines
from viz_core import readers
from viz_core.errors import AtlasError
from viz_core.readers.intake import Limits, Uploads
from viz_core.trace import trace

PAIRS = torch.arange(0, 8, 2, dtype=torch.float64) / 8  # of heads of 8 channels
YARN = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0}
ORIGINAL = "rope.scaling.original_context_length"


def llama(path: Path, **rope: object) -> Saved:
    base = {"rope_type": "default", "rope_theta": 10000.0}
    return save(path / "model", "llama", rope_parameters={**base, **rope}, num_hidden_layers=2)


@torch.no_grad()
def eager(model: Any, tokens: Tensor) -> Tensor:
    """transformers' own attention [layer, head, query, key]."""
    found = model(tokens[None], output_attentions=True, use_cache=False)
    return torch.stack([a[0] for a in found.attentions])


def read(path: Path, tokens: Tensor) -> tuple[Tensor, Any]:
    """(attention [layer, head, query, key], the description) of the file `path`."""
    found = readers.describe(path)
    traced = trace(readers.load(found), tokens.tolist())
    n, layers = len(tokens), range(found.config.layers)
    maps = [traced.log_attention(i, (0, n), (0, n), slice(None)).exp() for i in layers]
    return torch.stack(maps), found


def same(path: Path, model: Any, count: int = 300) -> dict[str, tuple[str, str]]:
    """Holds the map of the file `path` against `model`'s own; (verdict, words) of its audit."""
    tokens = ids(count)
    ours, found = read(path, tokens)
    assert (ours - eager(model, tokens)).abs().max() < 1e-5
    audit = readers.audit(readers.load(found), found)
    assert {f.verdict for f in audit} <= {"agrees", "note"}, audit
    return {f.about: (f.verdict, f.words) for f in audit}


def test_by_path_by_folder_and_as_an_upload(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = llama(tmp_path, rope_theta=500000.0).model
    (tmp_path / "in").mkdir()
    file, tokens = write(tmp_path / "in" / "tiny.gguf", model), ids(64)
    (tmp_path / "text.txt").write_text(" ".join(str(int(i)) for i in tokens))
    for where in (file, file.parent):
        status, out, err = cli("inspect", where, "--json")
        said = json.loads(out)
        assert (status, err, said["format"]) == (0, "", "gguf")
        assert said["encoding"]["parameters"]["theta"] == 500000
        text = ("--length", 64, "--pixels", 64, "--text-file", tmp_path / "text.txt")
        status, _, err = cli("map", where, *text, "--out", tmp_path / "map.npz")
        assert status == 0, err
        with np.load(tmp_path / "map.npz") as z:
            ours = torch.from_numpy(np.exp(z["log_probability"]))
        assert (ours - eager(model, tokens)).abs().max() < 1e-5
    room = Uploads(tmp_path / "uploads", Limits.read())
    monkeypatch.setattr(uploads_room, "uploads", lambda: room)
    monkeypatch.setattr(uploads_room, "owner", lambda: "ada")
    content = file.read_bytes()
    sent = admission.File("tiny.gguf", io.BytesIO(content), len(content))
    admission.take([sent], _Place())  # type: ignore[arg-type]
    (inside,) = [one for u in room.list("ada") if (one := uploads_known.admitted(u.admitted))]
    ours, found = read(uploads_known.place(inside), tokens)
    assert found.format == "gguf" and (ours - eager(model, tokens)).abs().max() < 1e-5


class _Place:
    """Stands in for a place on the page."""

    def empty(self) -> None: ...

    def progress(self, done: float, text: str) -> None: ...


def test_numbers_of_eight_bits(tmp_path: Path) -> None:
    model, kind = llama(tmp_path).model, gguf.GGMLQuantizationType.Q8_0
    file = write(tmp_path / "q8.gguf", model, packed=kind)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2 and weight.shape[-1] % 32 == 0:
                packed = gguf.quants.quantize(weight.numpy(), kind)
                weight.copy_(torch.from_numpy(gguf.quants.dequantize(packed, kind)))
    same(file, model)


def test_its_own_vocabulary(tmp_path: Path) -> None:
    tokens = ["a", "b", "ab", *(f"<{i}>" for i in range(61))]
    file = write(tmp_path / "words.gguf", llama(tmp_path).model, tokens=tokens)
    pieces = readers.tokenizer(readers.describe(file).path)
    assert pieces is not None and pieces.encode("ab", add_special_tokens=False).ids == [2]


@pytest.mark.parametrize("legacy", [False, True])
def test_linear_scaling(tmp_path: Path, legacy: bool) -> None:
    model = llama(tmp_path, rope_type="linear", factor=8.0).model
    keys: dict[str, object] = {"rope.scaling.type": "linear", "rope.scaling.factor": 8.0}
    file = write(tmp_path / "a.gguf", model, {"rope.scale_linear": 8.0} if legacy else keys)
    said = same(file, model)
    assert "linear by a factor of 8" in said["RoPE scaling"][1]
    assert said["inverse frequencies"][0] == "agrees"


def test_a_factor_under_no_scaling_is_not_applied(tmp_path: Path) -> None:
    model = llama(tmp_path).model
    keys = {"rope.scaling.type": "none", "rope.scaling.factor": 8.0}
    assert "RoPE scaling" not in same(write(tmp_path / "a.gguf", model, keys), model)


@pytest.mark.parametrize("more", [1.0, 1.25])
def test_yarn(tmp_path: Path, more: float) -> None:
    own = {"beta_fast": 24.0, "beta_slow": 2.0, "original_max_position_embeddings": 256}
    attention = more * (0.1 * math.log(4) + 1)
    rope = {"rope_type": "yarn", "factor": 4.0, "attention_factor": attention, **own}
    model = llama(tmp_path, **rope).model
    keys = {
        **YARN,
        ORIGINAL: 256,
        "rope.scaling.yarn_beta_fast": 24.0,
        "rope.scaling.yarn_beta_slow": 2.0,
        "rope.scaling.attn_factor": more,
        "rope.scaling.finetuned": True,
    }
    file = write(tmp_path / "a.gguf", model, keys)
    assert "yarn by a factor of 4" in same(file, model)["RoPE scaling"][1]
    ours, _ = read(file, ids(300))
    other, _ = read(write(tmp_path / "b.gguf", model), ids(300))
    assert (ours - other).abs().max() > 0.01  # had the keys been dropped, it would have shown


def test_the_table_of_llama_3(tmp_path: Path) -> None:
    rule = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "factor": 8.0}
    rope = {"rope_type": "llama3", "original_max_position_embeddings": 256, **rule}
    model = llama(tmp_path, **rope).model
    table = 10000.0**-PAIRS / model.model.rotary_emb.inv_freq
    said = same(write(tmp_path / "a.gguf", model, tables={"rope_freqs.weight": table}), model)
    assert "llama3 by a factor of 8; trained at 256 tokens" in said["RoPE scaling"][1]
    assert "rope_freqs.weight" in said["inverse frequencies"][1]
    assert said["RoPE table"] == ("note", "rope_freqs.weight divides frequencies by 1 to 8.")


def test_a_table_of_no_known_rule_is_used_as_it_is(tmp_path: Path) -> None:
    model, table = llama(tmp_path).model, torch.tensor([1.0, 3.0, 2.0, 7.0])
    file = write(tmp_path / "a.gguf", model, tables={"rope_freqs.weight": table})
    model.model.rotary_emb.inv_freq /= table
    same(file, model)


@pytest.mark.parametrize("count", [200, 300])
def test_longrope(tmp_path: Path, count: int) -> None:
    short, late = [1.0, 1.1, 1.2, 1.3], [1.0, 2.0, 4.0, 8.0]
    own = {"original_max_position_embeddings": 256, "attention_factor": 1.2, "factor": 4.0}
    rope = {"rope_type": "longrope", "short_factor": short, "long_factor": late, **own}
    model = llama(tmp_path, **rope).model
    keys = {"rope.scaling.type": "longrope", ORIGINAL: 256, "rope.scaling.attn_factor": 1.2}
    tables = {"rope_factors_short.weight": torch.tensor(short)}
    tables["rope_factors_long.weight"] = torch.tensor(late)
    same(write(tmp_path / "a.gguf", model, keys, tables), model, count)


def test_a_window(tmp_path: Path) -> None:
    model = save(tmp_path / "m", "mistral", sliding_window=24).model
    file = write(tmp_path / "a.gguf", model, {"attention.sliding_window": 24})
    assert readers.describe(file).family == "mistral"
    same(file, model)
    # llama.cpp computes no window that a file doesn't name, whatever the model is called
    assert readers.describe(write(tmp_path / "b.gguf", model)).family == "llama"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"attention.max_alibi_bias": 8.0}, "llama.attention.max_alibi_bias to 8.0"),
        ({"attention.causal": False}, "llama.attention.causal to False"),
        ({"attention.scale": 0.5}, "llama.attention.scale to 0.5"),
        ({"attn_logit_softcapping": 30.0}, "attn_logit_softcapping"),
        ({"expert_count": 8}, "expert_count"),
        ({"rope.freq_base_swa": 5e5}, "rope.freq_base_swa"),
        ({"rope.dimension_sections": [1, 1, 2, 0]}, "rope.dimension_sections"),
        ({"rope.scaling.yarn_ext_factor": 0.5}, "yarn_ext_factor"),
        ({"rope.a_key_of_tomorrow": 1}, "rope.a_key_of_tomorrow"),
        ({"rope.scaling.type": "spiral"}, "it is 'spiral'"),
        ({"rope.scaling.type": "longrope"}, "rope_factors_short.weight, rope_factors_long.weight"),
        ({"rope.dimension_count": 4}, "4 of 8 channels"),
        ({"attention.key_length": 16}, "8 of 16 channels"),
        ({"attention.head_count_kv": [2, 4]}, "it has '[2, 4]'"),
        ({"attention.head_count": 0}, "llama.attention.head_count"),
        ({"block_count": 5000}, "from 0 to 1,024"),
        ({"block_count": 3}, "blk.2.attn_q.weight of shape [32, 32] by this GGUF file's keys"),
        ({"embedding_length": 64, "attention.key_length": 8}, "of shape [64, 64] by"),
    ],
)
def test_what_it_says_and_is_not_read_is_refused(
    tmp_path: Path, keys: dict[str, object], words: str
) -> None:
    file = write(tmp_path / "a.gguf", llama(tmp_path).model, keys)
    with pytest.raises(AtlasError) as refused:
        readers.describe(file)
    said = str(refused.value)
    assert words in said and "config.json" not in said and "\n" not in said, said


@pytest.mark.parametrize("key", ["context_length", "attention.head_count", "block_count"])
def test_a_key_that_is_missing(tmp_path: Path, key: str) -> None:
    file = write(tmp_path / "a.gguf", llama(tmp_path).model, without=(key,))
    with pytest.raises(AtlasError, match=f"llama.{key} in this GGUF file; it has none"):
        readers.describe(file)


def test_a_part_of_a_split_file(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(str(tmp_path / "a.gguf"), "llama")
    writer.add_uint16("split.count", 3)
    writer.add_tensor("token_embd.weight", np.zeros((64, 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(AtlasError, match="one of 3 parts"):
        readers.describe(tmp_path / "a.gguf")


def test_another_architecture(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(str(tmp_path / "a.gguf"), "gemma")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(AtlasError, match="'gemma'"):
        readers.describe(tmp_path / "a.gguf")


def test_what_is_left_over_is_reported(tmp_path: Path) -> None:
    tables = {"blk.0.attn_q_norm.weight": torch.ones(8)}
    keys = {"a_key_of_tomorrow": 1, "use_parallel_residual": False}
    file = write(tmp_path / "a.gguf", llama(tmp_path).model, keys, tables)
    said = lines(readers.describe(file).findings)
    assert said["weights"].verdict == said["keys"].verdict == "differs"
    assert "attn_q_norm" in said["weights"].words and "a_key_of_tomorrow" in said["keys"].words


def test_a_table_that_is_none(tmp_path: Path) -> None:
    model = llama(tmp_path).model
    for table in (torch.ones(3), torch.tensor([1.0, 2.0, 0.0, 1.0])):
        file = write(tmp_path / "a.gguf", model, tables={"rope_freqs.weight": table})
        with pytest.raises(AtlasError, match="Expected 4 positive numbers in rope_freqs"):
            readers.describe(file)


def test_an_audit_sees_what_the_code_turns_by(tmp_path: Path) -> None:
    file = write(tmp_path / "a.gguf", llama(tmp_path).model, YARN)
    found = readers.describe(file)
    subject: Any = readers.load(found)
    subject.base.rotary_emb.original_inv_freq *= 1.01
    said = lines(readers.audit(subject, found))["inverse frequencies"]
    assert said.verdict == "differs" and "1e-02" in said.words
