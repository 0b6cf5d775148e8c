"""Small random models of every family, from their configurations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from viz_core.readers.huggingface.families import FAMILIES

VOCABULARY = 64
LONG = 1024  # tokens that every model here has positions for
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
PLAIN = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": LONG,
    **SPECIAL,
}
GROUPED = {**PLAIN, "num_key_value_heads": 2}
WIDE = {**GROUPED, "head_dim": 16}  # heads that aren't width / heads wide
WINDOW = {"sliding_window": 24}
MIXED = {**WINDOW, "layer_types": ["sliding_attention", "full_attention"]}
GPT = {
    "vocab_size": VOCABULARY,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": LONG,
    **SPECIAL,
}
T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "pad_token_id": 0,
    "eos_token_id": 2,
}

CONFIGS: dict[str, dict[str, Any]] = {
    "albert": {**PLAIN, "embedding_size": 16},
    "arcee": GROUPED,
    "bert": PLAIN,
    "biogpt": PLAIN,
    "bloom": {"vocab_size": VOCABULARY, "hidden_size": 24, "n_layer": 2, "n_head": 6, **SPECIAL},
    "codegen": {**GPT, "n_ctx": LONG, "rotary_dim": 4},
    "cohere": {**GROUPED, "logit_scale": 0.5},
    "cohere2": {**GROUPED, **MIXED, "logit_scale": 0.5},
    "distilbert": {
        "vocab_size": VOCABULARY,
        "dim": 32,
        "n_heads": 4,
        "n_layers": 2,
        "hidden_dim": 48,
        "max_position_embeddings": LONG,
        "pad_token_id": 0,
    },
    "electra": {**PLAIN, "embedding_size": 16},
    "exaone4": {**GROUPED, **MIXED},
    "falcon": {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        **SPECIAL,
    },
    "gemma": WIDE,
    "gemma2": {
        **WIDE,
        **MIXED,
        "query_pre_attn_scalar": 9,
        "attn_logit_softcapping": 3.0,
        "final_logit_softcapping": 2.0,
    },
    "gemma3_text": {**WIDE, **MIXED, "query_pre_attn_scalar": 9},
    "glm": {**GROUPED, "head_dim": 8},
    "gpt2": {**GPT, "scale_attn_by_inverse_layer_idx": True},
    "gpt_bigcode": GPT,
    "gpt_neo": {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "num_layers": 2,
        "num_heads": 4,
        "attention_types": [[["global", "local"], 1]],
        "window_size": 24,
        "max_position_embeddings": LONG,
        **SPECIAL,
    },
    "gpt_neox": PLAIN,
    "gpt_oss": {**WIDE, **MIXED, "num_local_experts": 4, "num_experts_per_tok": 2},
    "gptj": {**GPT, "rotary_dim": 4},
    "granite": {**GROUPED, "logits_scaling": 2.0, "attention_multiplier": 0.2},
    "helium": {**GROUPED, "head_dim": 8},
    "llama": GROUPED,
    "llama4_text": {
        **WIDE,
        "intermediate_size_mlp": 48,
        "num_local_experts": 2,
        "attention_chunk_size": 128,
        "no_rope_layers": [1, 0],
        "attn_temperature_tuning": False,
    },
    "mistral": {**GROUPED, **WINDOW},
    "modernbert": {
        **{k: v for k, v in PLAIN.items() if k != "num_hidden_layers"},
        "num_hidden_layers": 4,
        "local_attention": 16,
        "cls_token_id": 1,
        "sep_token_id": 2,
    },
    "mpt": {
        "vocab_size": VOCABULARY,
        "d_model": 24,
        "n_layers": 2,
        "n_heads": 6,
        "max_seq_len": LONG,
        "attn_config": {"clip_qkv": 1.0},
        **SPECIAL,
    },
    "mt5": T5,
    "nemotron": GROUPED,
    "olmo": {**GROUPED, "clip_qkv": 1.0},
    "olmo2": GROUPED,
    "olmo3": {**GROUPED, **MIXED},
    "opt": {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "ffn_dim": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": LONG,
        "word_embed_proj_dim": 16,
        **SPECIAL,
    },
    "persimmon": PLAIN,
    "phi": {**GROUPED, "qk_layernorm": True},
    "phi3": GROUPED,
    "qwen2": {**GROUPED, **WINDOW, "use_sliding_window": True, "max_window_layers": 1},
    "qwen3": WIDE,
    "roberta": {**PLAIN, "max_position_embeddings": LONG + 1},
    "smollm3": {**GROUPED, "no_rope_layers": [1, 0]},
    "stablelm": GROUPED,
    "starcoder2": {**GROUPED, **WINDOW},
    "t5": T5,
    "umt5": T5,
    "xlm-roberta": {**PLAIN, "max_position_embeddings": LONG + 1},
}


@dataclass(frozen=True)
class Saved:
    """A model of transformers with its own eager attention, and the folder that it was saved to."""

    model: Any
    path: Path
    family: str


def ids(count: int, seed: int = 1) -> Tensor:
    """Random tokens [position], none of them special."""
    return torch.randint(3, VOCABULARY, (count,), generator=torch.Generator().manual_seed(seed))


def save(path: Path, family: str, made: str = "", **changes: Any) -> Saved:
    """A random model of `family` in the folder `path`, of transformers' class `made`.

    By default with its language-model head, where the family has one; `changes` are settings.
    """
    import transformers

    transformers.logging.disable_progress_bar()
    known = FAMILIES[family]
    kind = getattr(transformers, made or known.head or known.base)
    settings = kind.config_class(**{**CONFIGS[family], **changes})
    settings._attn_implementation = "eager"
    torch.manual_seed(0)
    model = kind(settings).eval()
    _randomise(model)
    model.save_pretrained(path)
    return Saved(model, path, family)


@torch.no_grad()
def _randomise(model: nn.Module) -> None:
    """Weights at which attention is neither even nor on one key, and biases that aren't 0."""
    tables = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    for weight in model.parameters():
        if weight.ndim == 1:
            weight.add_(0.1 * torch.randn_like(weight))
        else:
            size = 1.0 if id(weight) in tables else weight.shape[-1] ** -0.5
            weight.copy_(size * torch.randn_like(weight))


@torch.no_grad()
def eager(saved: Saved, tokens: Tensor, **more: Any) -> Any:
    """What transformers' own eager attention makes of `tokens` [position], with attentions."""
    return saved.model(tokens[None], output_attentions=True, use_cache=False, **more)


@cache
def turning() -> list[str]:
    """The families with RoPE."""
    return sorted(name for name, family in FAMILIES.items() if family.positions == "rope")
