"""A model's sizes and encoding as its configuration gives them, before a weight is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viz_core.encodings import Value
from viz_core.encodings._scalings import SCALINGS
from viz_core.errors import DamagedCheckpoint
from viz_core.readers.description import ForeignSizes
from viz_core.readers.huggingface.families import FAMILIES, Family
from viz_core.words import say

_LENGTHS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx")


def sizes(config: Any, said: Mapping[str, Any], stack: str = "") -> ForeignSizes:
    """The sizes of `config`, which config.json `said`; of one `stack` of a T5.

    Raises DamagedCheckpoint for sizes that are none.
    """
    family = FAMILIES[config.model_type]
    heads, kept = int(config.num_attention_heads), key_heads(config)
    encoding, values = position(config, family, stack)
    deep = config.num_decoder_layers if stack == "decoder" else config.num_hidden_layers
    length = trained(config, said)[0]
    if min(deep, heads, kept, head_width(config), config.vocab_size) < 1 or heads % kept:
        raise DamagedCheckpoint(
            say(
                "Expected layers, and heads that share key heads evenly, in config.json; it has "
                "{deep} layers with {heads} heads and {kept} key heads, so download it again.",
                deep=deep,
                heads=heads,
                kept=kept,
            )
        )
    return ForeignSizes(
        encoding=encoding,
        layers=int(deep),
        heads=heads,
        kv_heads=kept,
        head_dim=head_width(config),
        width=int(config.hidden_size),
        vocabulary=int(config.vocab_size),
        length=length,
        causal=causal(config, family, stack),
        parameters=values,
    )


def position(config: Any, family: Family, stack: str) -> tuple[str, dict[str, Value]]:
    """(the encoding's id, its parameters) of most layers."""
    if config.model_type == "falcon" and config.alibi:
        return "alibi", {"exponent": 8.0}
    if family.positions == "rope":
        return "rope", rope(config, family, rope_parameters(config, _common(config)))
    if family.positions == "alibi":
        most = config.attn_config.alibi_bias_max if config.model_type == "mpt" else 8
        return "alibi", {"exponent": float(most)}
    if family.positions == "t5":
        return "t5", {
            "buckets": int(config.relative_attention_num_buckets),
            "max_distance": int(config.relative_attention_max_distance),
            "bidirectional": int(stack != "decoder"),
        }
    return "learned", {}


def rope(config: Any, family: Family, said: Mapping[str, Any]) -> dict[str, Value]:
    """The parameters of RoPE's card; a scaling that it doesn't know is "none" here."""
    kind = {"default": "none"}.get(said["rope_type"], said["rope_type"])
    width = rotary(config, said)
    return {
        "theta": float(said["rope_theta"]),
        "scaling": kind if kind in SCALINGS else "none",
        "factor": float(said.get("factor") or 1.0) if kind in SCALINGS else 1.0,
        "layout": family.layout,
        "rotary": 0 if width == head_width(config) else width,
    }


def rope_parameters(config: Any, kind: str = "") -> dict[str, Any]:
    """What the configuration says of RoPE, in layers of `kind` where layers differ."""
    if config.model_type in ("gptj", "codegen"):  # fixed in their code
        return {"rope_type": "default", "rope_theta": 10000.0}
    said = config.rope_parameters
    return dict(said.get(kind, said))


def rotary(config: Any, said: Mapping[str, Any]) -> int:
    """How many channels of a head turn."""
    if config.model_type in ("gptj", "codegen"):
        return int(config.rotary_dim or config.hidden_size)
    if said["rope_type"] == "proportional":  # all of them, some at a frequency of 0
        return head_width(config)
    return int(head_width(config) * (said.get("partial_rotary_factor") or 1.0))


def kind_of(config: Any, layer: int) -> str:
    """What kind of attention `layer` has, where a model has several; "" where it hasn't."""
    kinds = getattr(config, "layer_types", None)
    return str(kinds[layer]) if kinds else ""


def turning(config: Any, layer: int) -> str:
    """Which of a configuration's settings of RoPE `layer` has; "" where there is one for all."""
    kind, said = kind_of(config, layer), getattr(config, "rope_parameters", None) or {}
    return kind if kind in said else ""


def bare(config: Any, layer: int) -> bool:
    """Whether `layer` goes without RoPE in a family that has such layers."""
    rule = FAMILIES[config.model_type].bare
    if rule == "no_rope_layers":  # which lists those that have it
        return not config.no_rope_layers[layer]
    if rule == "full layers":
        return config.sliding_window is not None and kind_of(config, layer) == "full_attention"
    return False


def key_heads(config: Any) -> int:
    """Key heads of a layer."""
    if config.model_type == "falcon":
        if config.new_decoder_architecture or not config.multi_query:
            return int(config.num_kv_heads)
        return 1
    if config.model_type == "gpt_bigcode":
        return 1 if config.multi_query else int(config.num_attention_heads)
    return int(getattr(config, "num_key_value_heads", None) or config.num_attention_heads)


def head_width(config: Any) -> int:
    """Channels of a head."""
    said = getattr(config, "head_dim", None)
    return int(said or config.hidden_size // config.num_attention_heads)


def causal(config: Any, family: Family, stack: str) -> bool:
    """Whether a query sees no later key."""
    if family.positions == "t5":
        return stack == "decoder"
    if getattr(config, "use_bidirectional_attention", None):
        return False
    return family.causal or bool(getattr(config, "is_decoder", False))


def trained(config: Any, said: Mapping[str, Any]) -> tuple[int, str]:
    """(the length that config.json declares, the key that does); (0, "") where none does."""
    for key in _LENGTHS:
        value = said.get(key)
        if isinstance(value, int) and value > 0:
            return value - before(config), key
    return 0, ""


def before(config: Any) -> int:
    """Rows of a table of positions that stand before the first one."""
    return int(config.pad_token_id or 0) + 1 if FAMILIES[config.model_type].after_padding else 0


def _common(config: Any) -> str:
    """Which settings of RoPE most layers have."""
    kinds = [turning(config, i) for i in range(config.num_hidden_layers) if not bare(config, i)]
    return max(kinds, key=kinds.count) if kinds else ""
