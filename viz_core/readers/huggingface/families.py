"""The model families that are read, and what sets each apart: an allow-list, by `model_type`.

A checkpoint's `model_type` picks a line of this table and nothing else: class names, code and
files that a config.json names are never looked at. Sources: transformers 5.24, models/*/modeling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Positions = Literal["rope", "learned", "alibi", "t5"]


@dataclass(frozen=True)
class Family:
    """Names of its transformers classes, and where position acts.

    `base` ends in hidden states, `head` in the logits of the next token (None: there are none).
    `layout` is RoPE's pairing of channels. `after_padding`: learned positions count from the
    padding token's id plus one (fairseq's habit). `bare`: which layers go without RoPE, by the
    name of a rule in `sizes`. `own`: its attention doesn't go through transformers'
    AttentionInterface, and `adapters` has a forward for it.
    """

    base: str
    head: str | None = None
    positions: Positions = "rope"
    layout: Literal["half", "interleaved"] = "half"
    causal: bool = True
    after_padding: bool = False
    bare: Literal["", "no_rope_layers", "full layers"] = ""
    own: bool = False


def _decoder(stem: str, **rest: object) -> Family:
    return Family(f"{stem}Model", f"{stem}ForCausalLM", **rest)  # type: ignore[arg-type]


def _encoder(stem: str, **rest: object) -> Family:
    return Family(f"{stem}Model", causal=False, positions="learned", **rest)  # type: ignore[arg-type]


_TURNED_IN_PAIRS = {"layout": "interleaved"}
_TABLE = {"positions": "learned"}

FAMILIES = {
    "albert": _encoder("Albert"),
    "arcee": _decoder("Arcee"),
    "bert": _encoder("Bert"),
    "biogpt": _decoder("BioGpt", **_TABLE),
    "bloom": _decoder("Bloom", positions="alibi", own=True),
    "codegen": _decoder("CodeGen", **_TURNED_IN_PAIRS),
    "cohere": _decoder("Cohere", **_TURNED_IN_PAIRS),
    "cohere2": _decoder("Cohere2", bare="full layers", **_TURNED_IN_PAIRS),
    "distilbert": _encoder("DistilBert"),
    "electra": _encoder("Electra"),
    "exaone4": _decoder("Exaone4", bare="full layers"),
    "falcon": _decoder("Falcon", own=True),  # or ALiBi, as its config says
    "gemma": _decoder("Gemma"),
    "gemma2": _decoder("Gemma2"),
    "gemma3_text": Family("Gemma3TextModel", "Gemma3ForCausalLM"),
    "glm": _decoder("Glm", **_TURNED_IN_PAIRS),
    "gpt2": Family("GPT2Model", "GPT2LMHeadModel", positions="learned"),
    "gpt_bigcode": _decoder("GPTBigCode", **_TABLE),
    "gpt_neo": _decoder("GPTNeo", own=True, **_TABLE),
    "gpt_neox": _decoder("GPTNeoX"),
    "gpt_oss": _decoder("GptOss"),
    "gptj": _decoder("GPTJ", **_TURNED_IN_PAIRS),
    "granite": _decoder("Granite"),
    "helium": _decoder("Helium", **_TURNED_IN_PAIRS),
    "llama": _decoder("Llama"),
    "llama4_text": Family(
        "Llama4TextModel", "Llama4ForCausalLM", layout="interleaved", bare="no_rope_layers"
    ),
    "mistral": _decoder("Mistral"),
    "modernbert": Family("ModernBertModel", causal=False),
    "mpt": _decoder("Mpt", positions="alibi", own=True),
    "mt5": Family("MT5Model", positions="t5"),
    "nemotron": _decoder("Nemotron"),
    "olmo": _decoder("Olmo"),
    "olmo2": _decoder("Olmo2"),
    "olmo3": _decoder("Olmo3"),
    "opt": _decoder("OPT", **_TABLE),
    "persimmon": _decoder("Persimmon"),
    "phi": _decoder("Phi"),
    "phi3": _decoder("Phi3"),
    "qwen2": _decoder("Qwen2"),
    "qwen3": _decoder("Qwen3"),
    "roberta": _encoder("Roberta", after_padding=True),
    "smollm3": _decoder("SmolLM3", bare="no_rope_layers"),
    "stablelm": _decoder("StableLm"),
    "starcoder2": _decoder("Starcoder2"),
    "t5": Family("T5Model", positions="t5"),
    "umt5": Family("UMT5Model", positions="t5"),
    "xlm-roberta": _encoder("XLMRoberta", after_padding=True),
}
