"""What config.json and headers say of a model's attention, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from viz_core.encodings import get
from viz_core.readers.description import Finding, ForeignSizes
from viz_core.readers.huggingface import configuration, sizes
from viz_core.readers.huggingface.families import FAMILIES
from viz_core.readers.huggingface.fitting import Fit
from viz_core.readers.intake.words import shown


def declared(
    config: Any, said: Mapping[str, Any], size: ForeignSizes, fitted: Fit, stack: str
) -> tuple[Finding, ...]:
    """What config.json and the headers say, before a weight is read."""
    return (
        *_position(config, said, size),
        *_attention(config, size),
        *_file(said, fitted, stack),
    )


def _position(config: Any, said: Mapping[str, Any], size: ForeignSizes) -> Iterator[Finding]:
    kind, name = config.model_type, get(size.encoding).name
    yield Finding("encoding", "note", f"{name}, as in every {kind} model of this configuration.")
    length, key = sizes.trained(config, said)
    if not length:
        yield Finding("trained length", "unknown", "The configuration names none.")
    else:
        yield Finding("trained length", "note", f"{length:,} tokens, by {key}.")
    if size.encoding == "rope":
        yield from _rope(config, size)


def _rope(config: Any, size: ForeignSizes) -> Iterator[Finding]:
    kinds = dict.fromkeys(
        sizes.turning(config, i) for i in range(size.layers) if not sizes.bare(config, i)
    )
    for kind in kinds:
        says = sizes.rope_parameters(config, kind)
        where = f" in layers of {kind.replace('_', ' ')}" if len(kinds) > 1 else ""
        layout = FAMILIES[config.model_type].layout
        yield Finding("RoPE base", "note", f"{says['rope_theta']:,.10g}{where}, layout {layout}.")
        if says["rope_type"] != "default":
            factor = f" by a factor of {says['factor']:g}" if says.get("factor") else ""
            original = says.get("original_max_position_embeddings")
            at = f"; trained at {original:,} tokens before that" if original else ""
            yield Finding("RoPE scaling", "note", f"{says['rope_type']}{factor}{where}{at}.")
        width = sizes.rotary(config, says)
        if width < size.head_dim:
            yield Finding(
                "rotary width", "note", f"{width} of a head's {size.head_dim} channels turn{where}."
            )
    without = sum(sizes.bare(config, i) for i in range(size.layers))
    if without:
        yield Finding("NoPE layers", "note", f"{without} of {size.layers} layers have no RoPE.")


def _attention(config: Any, size: ForeignSizes) -> Iterator[Finding]:
    if size.kv_heads < size.heads:
        yield Finding(
            "key heads",
            "note",
            f"{size.heads} query heads, {size.heads // size.kv_heads} to each key head.",
        )
    if not size.causal:
        yield Finding("mask", "note", "Each token sees the whole text, the future too.")
    window = getattr(config, "sliding_window", None) or getattr(config, "window_size", None)
    if window:
        kinds = getattr(config, "layer_types", None) or getattr(config, "attention_layers", None)
        local = sum("sliding" in k or k == "local" for k in kinds) if kinds else size.layers
        if local:
            yield Finding(
                "window", "note", f"{local} of {size.layers} layers see the last {window:,} tokens."
            )
    cap = getattr(config, "attn_logit_softcapping", None)
    if cap:
        yield Finding("soft-cap", "note", f"Logits of attention are bounded by {cap:g} nats.")
    if config.model_type == "gpt_oss":
        yield Finding("sinks", "note", "Each head has a sink: its rows sum to less than 1.")


def _file(said: Mapping[str, Any], fitted: Fit, stack: str) -> Iterator[Finding]:
    for name in configuration.ignored(said):
        yield Finding("code", "note", f"config.json names code ({name}); it is not run.")
    if fitted.heads:
        yield Finding(
            "heads", "note", f"Weights for other tasks are left out: {len(fitted.heads)}."
        )
    if fitted.strays:
        yield Finding(
            "weights",
            "differs",
            f"{len(fitted.strays)} weights have no place in this model, first "
            f"{shown(fitted.strays[0])}: what is computed here may not be what was trained.",
        )
    if stack == "decoder":
        yield Finding("text", "note", "The encoder and the decoder both read the same text here.")
