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
from viz_core.words import mark, say

_KINDS = {  # of layers, as transformers calls them
    "full_attention": mark("full attention"),
    "sliding_attention": mark("sliding attention"),
}


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
    yield Finding(
        mark("encoding"),
        "note",
        say("{name}, as in every {kind} model of this configuration.", name=name, kind=kind),
    )
    length, key = sizes.trained(config, said)
    if not length:
        yield Finding(mark("trained length"), "unknown", say("The configuration names none."))
    else:
        yield Finding(
            mark("trained length"),
            "note",
            say("{length:,} tokens, by {key}.", length=length, key=key),
        )
    if size.encoding == "rope":
        yield from _rope(config, size)


def _rope(config: Any, size: ForeignSizes) -> Iterator[Finding]:
    kinds = dict.fromkeys(
        sizes.turning(config, i) for i in range(size.layers) if not sizes.bare(config, i)
    )
    for kind in kinds:
        says = sizes.rope_parameters(config, kind)
        where = ""
        if len(kinds) > 1:
            known = _KINDS.get(kind, kind.replace("_", " "))
            where = say(" in layers of {kind}", kind=say(known))
        layout = FAMILIES[config.model_type].layout
        yield Finding(
            mark("RoPE base"),
            "note",
            say(
                "{base:,.10g}{where}, layout {layout}.",
                base=says["rope_theta"],
                where=where,
                layout=layout,
            ),
        )
        if says["rope_type"] != "default":
            yield Finding(mark("RoPE scaling"), "note", _scaled(says, where))
        width = sizes.rotary(config, says)
        if width < size.head_dim:
            yield Finding(
                mark("rotary width"),
                "note",
                say(
                    "{width} of a head's {all} channels turn{where}.",
                    width=width,
                    all=size.head_dim,
                    where=where,
                ),
            )
    without = sum(sizes.bare(config, i) for i in range(size.layers))
    if without:
        yield Finding(
            mark("NoPE layers"),
            "note",
            say("{without} of {layers} layers have no RoPE.", without=without, layers=size.layers),
        )


def _scaled(says: Mapping[str, Any], where: str) -> str:
    """How frequencies are scaled, and the trained length before that."""
    kind, factor = says["rope_type"], says.get("factor")
    original = says.get("original_max_position_embeddings")
    if factor and original:
        return say(
            "{kind} by a factor of {factor:g}{where}; trained at {original:,} tokens before that.",
            kind=kind,
            factor=factor,
            where=where,
            original=original,
        )
    if original:
        return say(
            "{kind}{where}; trained at {original:,} tokens before that.",
            kind=kind,
            where=where,
            original=original,
        )
    if factor:
        return say(
            "{kind} by a factor of {factor:g}{where}.", kind=kind, factor=factor, where=where
        )
    return say("{kind}{where}.", kind=kind, where=where)


def _attention(config: Any, size: ForeignSizes) -> Iterator[Finding]:
    if size.kv_heads < size.heads:
        yield Finding(
            mark("key heads"),
            "note",
            say(
                "{heads} query heads, {shared} to each key head.",
                heads=size.heads,
                shared=size.heads // size.kv_heads,
            ),
        )
    if not size.causal:
        yield Finding(mark("mask"), "note", say("Each token sees the whole text, the future too."))
    cap = getattr(config, "attn_logit_softcapping", None)
    if cap:
        yield Finding(
            mark("soft-cap"),
            "note",
            say("Logits of attention are bounded by {cap:g} nats.", cap=cap),
        )
    if config.model_type == "gpt_oss":
        yield Finding(
            mark("sinks"), "note", say("Each head has a sink: its rows sum to less than 1.")
        )


def _file(said: Mapping[str, Any], fitted: Fit, stack: str) -> Iterator[Finding]:
    for name in configuration.ignored(said):
        yield Finding(
            mark("code"), "note", say("config.json names code ({name}); it is not run.", name=name)
        )
    if fitted.heads:
        yield Finding(
            mark("heads"),
            "note",
            say("Weights for other tasks are left out: {n}.", n=len(fitted.heads)),
        )
    if fitted.strays:
        yield Finding(
            mark("weights"),
            "differs",
            say(
                "{n} weights have no place in this model, first {name}: what is computed here may "
                "not be what was trained.",
                n=len(fitted.strays),
                name=shown(fitted.strays[0]),
            ),
        )
    if stack == "decoder":
        yield Finding(
            mark("text"), "note", say("The encoder and the decoder both read the same text here.")
        )
