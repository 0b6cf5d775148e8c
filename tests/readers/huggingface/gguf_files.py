"""A saved Llama as llama.cpp's converter would write it to a .gguf file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from torch import Tensor

PARTS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def write(
    path: Path,
    model: Any,
    keys: Mapping[str, object] | None = None,
    tables: Mapping[str, Tensor] | None = None,
    without: tuple[str, ...] = (),
    tokens: list[str] | None = None,
    about_tokens: Mapping[str, object] | None = None,
    packed: gguf.GGMLQuantizationType | None = None,
) -> Path:
    """Writes `model` (LlamaForCausalLM) to `path`, with more `keys` under "llama." and `tables`.

    `without`: keys that are left out; `tokens`: a vocabulary, and what is said of it
    besides; `packed`: how matrices are stored.
    """
    c = model.config
    said: dict[str, object] = {
        "context_length": c.max_position_embeddings,
        "embedding_length": c.hidden_size,
        "block_count": c.num_hidden_layers,
        "feed_forward_length": c.intermediate_size,
        "attention.head_count": c.num_attention_heads,
        "attention.head_count_kv": c.num_key_value_heads,
        "attention.layer_norm_rms_epsilon": float(c.rms_norm_eps),
        "rope.dimension_count": c.hidden_size // c.num_attention_heads,
        "rope.freq_base": float(c.rope_parameters["rope_theta"]),
        **(keys or {}),
    }
    writer = gguf.GGUFWriter(str(path), "llama")
    for key, value in said.items():
        if key not in without:
            _add(writer, f"llama.{key}", value)
    for key, value in (about_tokens or {}).items():
        _add(writer, f"tokenizer.ggml.{key}", value)
    if tokens:
        writer.add_tokenizer_model("gpt2")
        writer.add_token_list(tokens)
        writer.add_token_merges(["a b"])
    for name, table in (tables or {}).items():
        writer.add_tensor(name, table.float().numpy())
    for name, weight in model.state_dict().items():
        _put(writer, _named(name), _ordered(name, weight.numpy(), c), packed)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer: gguf.GGUFWriter, key: str, value: object) -> None:
    kinds = {bool: "bool", int: "uint32", float: "float32", str: "string", list: "array"}
    getattr(writer, f"add_{kinds[type(value)]}")(key, value)


def _named(name: str) -> str:
    stem, _, end = name.rpartition(".")
    if stem in NAMES:
        return f"{NAMES[stem]}.{end}"
    _, _, layer, part = stem.split(".", 3)
    return f"blk.{layer}.{PARTS[part]}.{end}"


def _ordered(name: str, weight: np.ndarray, config: Any) -> np.ndarray:
    """Queries and keys with each pair of channels side by side, as llama.cpp turns them."""
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    count = next((n for part, n in heads.items() if part in name), 0)
    if not count:
        return weight
    return weight.reshape(count, 2, -1, weight.shape[-1]).swapaxes(1, 2).reshape(weight.shape)


def _put(writer: gguf.GGUFWriter, name: str, weight: np.ndarray, packed: Any) -> None:
    if packed is None or weight.ndim < 2 or weight.shape[-1] % 32:
        writer.add_tensor(name, np.ascontiguousarray(weight))
    else:
        writer.add_tensor(name, gguf.quants.quantize(weight, packed), raw_dtype=packed)
