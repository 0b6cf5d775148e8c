"""What the header of a Llama's .gguf file says of attention, and what of it is read.

Keys and their meaning: ggml's docs/gguf.md, and llama.cpp's load_hparams, where a key that is
absent has the value that stands in `_NEUTRAL`. A key that would change attention and isn't read is
an error.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viz_core.errors import DamagedCheckpoint, UnknownName
from viz_core.readers.intake import called
from viz_core.readers.intake.words import shown
from viz_core.words import mark, say

ARCHITECTURES = ("llama",)
# What a model can't be built without, and the most that it may be.
_NEEDED = {
    "attention.head_count": 1 << 20,
    "attention.layer_norm_rms_epsilon": 1,
    "block_count": 1024,
    "context_length": 1 << 31,
    "embedding_length": 1 << 20,
    "feed_forward_length": 1 << 24,
}
_SIZES = {
    *_NEEDED, "attention.head_count_kv", "attention.key_length", "attention.sliding_window",
    "attention.value_length", "rope.dimension_count", "rope.freq_base", "rope.scale_linear",
    "rope.scaling.attn_factor",
    "rope.scaling.factor", "rope.scaling.original_context_length", "rope.scaling.type",
    "rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow", "vocab_size",
}  # fmt: skip
# Values of other keys under which a model is computed as if they weren't there.
_NEUTRAL: dict[str, tuple[object, ...]] = {
    "attention.causal": (True,),
    "attention.clamp_kqv": (0,),
    "attention.max_alibi_bias": (0,),
    "attention.scale": (0,),
    "attn_logit_softcapping": (0,),
    "embedding_scale": (0, 1),
    "expert_count": (0,),
    "expert_used_count": (0,),
    "final_logit_softcapping": (0,),
    "logit_scale": (0, 1),
    "residual_scale": (0, 1),
    "rope.scaling.finetuned": (False, True),  # a remark: nothing is computed from it
    "rope.scaling.yarn_attn_factor": (1,),
    "rope.scaling.yarn_ext_factor": (-1, 1),
    "rope.scaling.yarn_log_multiplier": (0,),
    "tensor_data_layout": ("Meta AI original pth",),  # q and k as llama.cpp has them
    "use_parallel_residual": (False,),
}
_BEGUN = ("falcon3", "llama-bpe", "llama-v3", "llama3")  # tokenizers of pieces of bytes, with bos
# What acts on attention or on what it reads; other unknown keys are reported, not refused.
_ACTS = ("attention.", "rope.", "attn_", "expert_", "logit_", "embedding_scale", "residual_")


@dataclass(frozen=True)
class Header:
    """A GGUF file's keys under its architecture's name, and its tensors in the package's words."""

    kind: str
    values: dict[str, Any]
    tensors: dict[str, Any]

    @property
    def packed(self) -> str:
        """How most tensors are stored."""
        kinds = [str(t.tensor_type.name) for t in self.tensors.values()]
        return max(kinds, key=kinds.count)

    def unread(self) -> list[str]:
        """Keys that nothing here reads. Raises DamagedCheckpoint where one changes attention."""
        left = []
        for key, value in self.values.items():
            if key in _SIZES or any(value == v for v in _NEUTRAL.get(key, ())):
                continue
            if key in _NEUTRAL or key.startswith(_ACTS):
                raise DamagedCheckpoint(
                    say(
                        "Expected keys that are read here; this GGUF file also sets {key} to "
                        "{value}, which changes attention and isn't read, so its map would be "
                        "another model's.",
                        key=shown(f"{self.kind}.{key}")[1:-1],
                        value=shown(str(value))[1:-1],
                    )
                )
            left.append(key)
        return left


def read(path: Path) -> Header:
    """The header of the file `path`.

    Raises DamagedCheckpoint, UnknownName for another architecture than a Llama's.
    """
    try:
        reader: Any = importlib.import_module("gguf").GGUFReader(str(path))
        kind = str(reader.fields["general.architecture"].contents())
        values = {
            name.removeprefix(f"{kind}."): field.contents()
            for name, field in reader.fields.items()
            if name.startswith(f"{kind}.")
        }
        pieces = reader.fields.get("split.count")
        split = int(pieces.contents()) if pieces else 1
        tensors = {str(t.name): t for t in reader.tensors}
    except Exception as error:  # whatever the package thinks of a file
        raise wrong(path, error) from None
    if kind not in ARCHITECTURES:
        raise UnknownName(mark("a GGUF architecture"), shown(kind)[1:-1], list(ARCHITECTURES))
    if split > 1:
        raise DamagedCheckpoint(
            say(
                "Expected a whole model in {file}; it is one of {n} parts, so join them with "
                "llama-gguf-split --merge.",
                file=called(path),
                n=split,
            )
        )
    for key in _SIZES & {*values, *_NEEDED}:
        _check(f"{kind}.{key}", values.get(key), _NEEDED.get(key, 1 << 40), key in _NEEDED)
    return Header(kind, values, tensors)


def around(path: Path) -> tuple[int | None, int | None]:
    """The tokens that the tokenizer in the file `path` puts (before, after) a text, if any.

    Where a file doesn't say, as llama.cpp has it for its kind of tokenizer.
    """
    fields: Any = importlib.import_module("gguf").GGUFReader(str(path)).fields

    def value(key: str, default: object) -> Any:
        field = fields.get(f"tokenizer.ggml.{key}")
        return default if field is None else field.contents()

    begun = value("model", "") == "llama" or value("pre", "") in _BEGUN
    before = value("bos_token_id", 1) if value("add_bos_token", begun) else None
    return before, value("eos_token_id", 2) if value("add_eos_token", False) else None


def _check(key: str, value: object, most: float, needed: bool) -> None:
    """Raises DamagedCheckpoint where a value is no number that a model can be built from."""
    if isinstance(value, str) and key.endswith(".type"):
        return
    if (
        isinstance(value, (int, float))
        and math.isfinite(value)
        and 0 <= value <= most
        and (value or not needed)
    ):
        return
    raise DamagedCheckpoint(
        say(
            "Expected one number from 0 to {most:,} for {key} in this GGUF file; it has {value}, "
            "so convert the model again.",
            most=most,
            key=key,
            value=say("none") if value is None else shown(str(value)),
        )
    )


def wrong(path: Path, error: Exception) -> DamagedCheckpoint:
    """What is said of a file that a package can't read."""
    why = (str(error).strip().splitlines() or [type(error).__name__])[0][:160].rstrip(".")
    return DamagedCheckpoint(
        say(
            "Expected a GGUF checkpoint in {file}; it can't be read ({why}), so download it again.",
            file=called(path),
            why=why,
        )
    )
