"""A family's configuration object out of config.json, which anyone may have written.

Only settings that the family's own configuration class knows get in, and none that would make
transformers fetch, build or run something that a file names.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from viz_core.errors import AtlasError, DamagedCheckpoint, UnknownName
from viz_core.readers.huggingface.families import FAMILIES
from viz_core.readers.intake.words import shown
from viz_core.words import mark, say

# What older versions called settings that the classes still read, and sizes for the audit.
_LEGACY = {
    "global_attn_every_n_layers", "global_rope_theta", "is_decoder", "local_rope_theta", "n_embed",
    "num_attention_heads", "num_hidden_layers", "original_max_position_embeddings",
    "partial_rotary_factor", "rope_local_base_freq", "rope_scaling", "rope_theta",
    "rotary_emb_base", "rotary_pct", "sliding_window_pattern", "tie_word_embeddings",
    "use_parallel_residual",
}  # fmt: skip
# What transformers' MPT computes whatever attn_config says of it.
_MPT = {"alibi": True, "rope": False, "prefix_lm": False, "sliding_window_size": -1}
_FIXED = {"use_cache": False, "add_cross_attention": False}
# Each of these is a loop while the model is built, before any shape is held against the file.
_LOOPS = {
    "inner_group_num", "n_layer", "n_layers", "num_decoder_layers", "num_experts",
    "num_hidden_groups", "num_hidden_layers", "num_layers", "num_local_experts",
}  # fmt: skip
_MOST = 1024  # of what is looped over: the deepest models have about a hundred layers
_LARGEST = 2**31 - 1  # of any other number
# RoPE's bases may be larger: 3,580,165,449 in a Llama 3 for 1,048,576 tokens.
_BASES = {
    "global_rope_theta", "local_rope_theta", "rope_local_base_freq", "rope_theta",
    "rotary_emb_base",
}  # fmt: skip
_LARGEST_BASE = 10**12
_LISTED = 1 << 20  # of a number in a list, where GPT-Neo's says how often to repeat the rest


def build(said: dict[str, Any]) -> Any:
    """The configuration object of what config.json `said`.

    Raises UnknownName for a family that isn't read, DamagedCheckpoint for settings that are no
    model's.
    """
    kind = said["model_type"]
    if kind not in FAMILIES:
        raise UnknownName(mark("a model family (model_type)"), shown(kind)[1:-1], sorted(FAMILIES))
    if said.get("quantization_config") is not None:
        raise DamagedCheckpoint(
            say(
                "Expected weights in 16 or 32 bits; config.json says that these are quantised, so "
                "save the checkpoint without quantisation."
            )
        )
    if said.get("position_embedding_type", "absolute") != "absolute":
        raise DamagedCheckpoint(
            say(
                "Expected absolute positions in this family; config.json asks for {kind}, which "
                "isn't read.",
                kind=shown(said["position_embedding_type"]),
            )
        )
    made = getattr(library(), FAMILIES[kind].base).config_class
    with understood(kind):
        for name, value in said.items():
            _check(name, value)
        config = made(**_known(made, said), **_FIXED)
        _scaled(config)
    _mpt(said)
    if getattr(config, "sinusoidal_pos_embds", False):
        raise DamagedCheckpoint(
            say(
                "Expected learned positions in this family; config.json asks for sinusoidal ones, "
                "which aren't read."
            )
        )
    return config


def _scaled(config: Any) -> None:
    """Raises DamagedCheckpoint for a kind of RoPE scaling that transformers doesn't know."""
    said = getattr(config, "rope_parameters", None) or {}
    known = {
        "default",
        *importlib.import_module("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS,
    }
    for part in (said, *(p for p in said.values() if isinstance(p, dict))):
        kind = part.get("rope_type", "default")
        if kind not in known:
            raise DamagedCheckpoint(
                say(
                    "Expected a rope_type among {known} in config.json; its RoPE scaling is of "
                    "kind {kind}, which isn't read.",
                    known=", ".join(sorted(known)),
                    kind=shown(str(kind)),
                )
            )


def _mpt(said: Mapping[str, Any]) -> None:
    """Raises DamagedCheckpoint for an MPT whose attention is another than transformers has."""
    attention = said.get("attn_config") if said["model_type"] == "mpt" else None
    if not isinstance(attention, dict):
        return
    for name, usual in _MPT.items():
        if attention.get(name, usual) != usual:
            raise DamagedCheckpoint(
                say(
                    "Expected an MPT with ALiBi and plain causal attention; attn_config in "
                    "config.json sets {name} to {value}, which isn't read.",
                    name=name,
                    value=shown(str(attention[name])),
                )
            )


def library() -> Any:
    """The transformers package, without its progress bars and warnings: findings say it here."""
    transformers: Any = importlib.import_module("transformers")
    transformers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    return transformers


def ignored(said: Mapping[str, Any]) -> list[str]:
    """What config.json names that would be code to run, and is left alone."""
    return [name for name in ("auto_map", "custom_pipelines") if said.get(name)]


@contextmanager
def understood(kind: str) -> Iterator[None]:
    """What transformers, or we, can't make of a file's settings is DamagedCheckpoint.

    Settings are a stranger's: any of them may have any type, and any error may come of that.
    """
    try:
        yield
    except AtlasError:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise DamagedCheckpoint(  # the last line is where transformers says what is wrong
            say(
                "Expected a config.json that describes a model of family {kind}; it doesn't "
                "({why}), so download it again.",
                kind=kind,
                why=shown(lines[-1].strip().rstrip("."))[1:-1],
            )
        ) from None


def _known(made: Any, said: dict[str, Any]) -> dict[str, Any]:
    """Those settings of `said` that the class `made` declares, those of its parts likewise."""
    shared = {f.name for f in fields(library().PreTrainedConfig)}
    own = {f.name for f in fields(made)} - shared - set(_FIXED)
    names = own | _LEGACY | set(made.attribute_map)
    found = {name: value for name, value in said.items() if name in names}
    for name, part in made.sub_configs.items():
        if isinstance(found.get(name), dict):
            found[name] = _known(part, found[name])
    return found


def _check(name: str, value: object, listed: bool = False) -> None:
    """Refuses numbers that would take all time or memory before anything could be checked."""
    most = _MOST if name in _LOOPS else _LISTED if listed else _LARGEST
    most = _LARGEST_BASE if name in _BASES else most
    if isinstance(value, int) and not -_LARGEST <= value <= most:
        raise DamagedCheckpoint(
            say(
                "Expected {name} of at most {most:,} in config.json; got {value}, so download it "
                "again.",
                name=shown(name),
                most=most,
                value=shown(str(value)),
            )
        )
    if isinstance(value, list):
        for part in value:
            _check(name, part, listed=True)
    if isinstance(value, dict):
        for key, part in value.items():
            _check(str(key), part, listed)
