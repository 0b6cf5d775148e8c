"""A loaded model's encodings held against the formulas they are said to be, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from viz_core.encodings import PositionEncoding
from viz_core.encodings._scalings import frequencies
from viz_core.encodings.alibi import ALiBi, slopes
from viz_core.encodings.rope import RoPE
from viz_core.encodings.t5 import T5, bucket
from viz_core.readers.description import Description, Finding
from viz_core.readers.huggingface import files, gguf
from viz_core.readers.huggingface.foreign import Foreign
from viz_core.readers.huggingface.given import Absolute, GivenRoPE, difference
from viz_core.readers.huggingface.positions import CLOSE, theirs
from viz_core.readers.masks import Sight
from viz_core.subject import Subject
from viz_core.words import mark, say

_FAR = 1 << 17  # tokens: past every edge of T5's buckets
_HALF = 0.01  # relative: some files have frequencies in 16 bits
_NATS = 0.01  # of a bias: a hundredth of a probability
_LENGTH = 2048  # tokens at which a bias is compared where no length is known
_LONGEST = 1 << 14


def audit(subject: Subject, description: Description) -> tuple[Finding, ...]:
    """What a loaded model says to its description: a line for each encoding among its layers."""
    assert isinstance(subject, Foreign)
    found = [line for e in dict.fromkeys(subject.encodings) for line in _weighed(e, subject)]
    if description.format == "gguf" and isinstance(subject.encoding, RoPE):
        found = [gguf.weighed(subject.encoding, subject, description.path)]
    return (*found, *_stored(subject, description), *_window(subject))


def _weighed(encoding: PositionEncoding, subject: Foreign) -> Iterator[Finding]:
    if isinstance(encoding, GivenRoPE):
        yield _without(encoding)
    elif isinstance(encoding, RoPE):
        yield _frequencies(encoding, subject)
        yield from _temperature(encoding)
    elif isinstance(encoding, ALiBi):
        yield _slopes(encoding, subject)
    elif isinstance(encoding, T5):
        buckets = bucket(
            torch.arange(_FAR), encoding.buckets, encoding.max_distance, encoding.bidirectional
        )
        last = int((buckets == buckets[-1]).nonzero()[0])
        yield Finding(
            mark("T5 buckets"),
            "agrees",
            say(
                "A table of {buckets} buckets; all distances from {last} on share one.",
                buckets=len(encoding.table.weight),
                last=last,
            ),
        )
    elif isinstance(encoding, Absolute):
        yield Finding(
            mark("learned table"),
            "agrees",
            say(
                "{rows:,} rows for positions; past them the model is undefined.", rows=encoding.end
            ),
        )


def _frequencies(encoding: RoPE, subject: Foreign) -> Finding:
    """Our formula beside what transformers computes of the same settings."""
    about, base = mark("inverse frequencies"), encoding.theta
    ours = encoding.frequencies(1)[0]
    found = [theirs(subject.base, kind) for kind in ("sliding_attention", "full_attention", "")]
    if not any(found):
        return Finding(
            about, "agrees", say("Fixed in the family's code at base {base:,.10g}.", base=base)
        )
    least = min(difference(ours, table[0]) for table in found if table is not None)
    scaling = encoding.scaling.kind
    words = say(
        "The formula at base {base:,.10g} gives those of transformers; the largest relative "
        "difference is {least:.0e}.",
        base=base,
        least=least,
    )
    if scaling != "none":
        words = say(
            "The formula at base {base:,.10g} under {scaling} scaling gives those of transformers; "
            "the largest relative difference is {least:.0e}.",
            base=base,
            scaling=scaling,
            least=least,
        )
    return Finding(about, "agrees", words)


def _temperature(encoding: RoPE) -> Iterator[Finding]:
    """The factor on cos and sin, where a configuration sets another than the formula's."""
    if encoding.temperature is not None:
        length = encoding.geometry.length
        formula = frequencies(encoding.rotary, encoding.theta, encoding.scaling, length)[1]
        words = say(
            "cos and sin are multiplied by {factor:.4g}, as the configuration says; the formula of "
            "{scaling} has {formula:.4g}.",
            factor=encoding.temperature,
            scaling=encoding.scaling.kind,
            formula=formula,
        )
        yield Finding(mark("attention factor"), "differs", words)


def _without(encoding: GivenRoPE) -> Finding:
    plain = RoPE(encoding.geometry, encoding.theta, rotary=encoding.rotary)
    most = difference(plain.frequencies(1)[0], encoding.given)
    return Finding(
        mark("inverse frequencies"),
        "differs",
        say(
            "No formula here gives the model's, which are used as they are; from base "
            "{base:,.10g} without scaling they differ by up to {most:.0%}.",
            base=encoding.theta,
            most=most,
        ),
    )


def _stored(subject: Foreign, description: Description) -> Iterator[Finding]:
    """Frequencies that an older checkpoint saved, beside those that its configuration gives."""
    encoding = subject.encoding
    if not isinstance(encoding, RoPE) or not description.path.is_dir():
        return
    tensors = files.tensors(description.path)
    names = sorted(n for n in tensors.shapes if n.endswith("rotary_emb.inv_freq"))
    if not names:
        return
    saved = tensors.read({names[0]: "saved"})["saved"]
    most = difference(encoding.frequencies(1)[0], saved)
    words = say(
        "The file's own (saved by an older version) differ from those by up to {most:.0e}.",
        most=most,
    )
    yield Finding(mark("saved frequencies"), "agrees" if most < _HALF else "differs", words)


def _window(subject: Foreign) -> Iterator[Finding]:
    """What layers with a window see, by the mask that the model's own code makes."""
    config = subject.settings
    said = getattr(config, "sliding_window", None) or getattr(config, "window_size", None)
    kinds = getattr(config, "layer_types", None) or getattr(config, "attention_layers", None)
    local = sum("sliding" in k or k == "local" for k in kinds or ())
    local = local if kinds else subject.config.layers
    if not said or not local:
        return
    sight = next(
        (s for s in subject.sights(2 * int(said) + 3) if s.window), Sight(window=int(said))
    )
    assert sight.window is not None
    words = say(
        "{local} of {layers} layers see the last {window:,} tokens.",
        local=local,
        layers=subject.config.layers,
        window=sight.window,
    )
    if not sight.causal:
        words = say(
            "{local} of {layers} layers see {side:,} tokens to each side.",
            local=local,
            layers=subject.config.layers,
            side=sight.window - 1,
        )
    yield Finding(mark("window"), "note", words)


def _slopes(encoding: ALiBi, subject: Foreign) -> Finding:
    """The reference's bias beside the one that the model's own code makes, at every distance."""
    about, heads = mark("ALiBi slopes"), len(encoding.slope)
    exponent = float(subject.config.parameters["exponent"])
    if abs(exponent - 8) > CLOSE:
        words = say(
            "The exponent is {exponent:g}, by alibi_bias_max in config.json; the paper has 8, and "
            "transformers' own code has 8 whatever that says.",
            exponent=exponent,
        )
        return Finding(about, "differs", words)
    length = min(subject.config.length or _LENGTH, _LONGEST)
    position = torch.arange(length, dtype=torch.float64)
    away = slopes(heads)[:, None] * position - _code(subject.base, heads, length).double()
    away = (away - away[:, -1:]).abs()  # of the last query, whose own key is at distance 0
    falcon = type(subject.base).__name__ == "FalconModel"
    most = float(away.max()) / (subject.config.head_dim**0.5 if falcon else 1)
    words = say(
        "The reference's for {heads} heads; the bias differs by {most:.2g} nats at {length:,} "
        "tokens.",
        heads=heads,
        most=most,
        length=length,
    )
    if falcon:
        words = say(
            "The reference's for {heads} heads, divided by sqrt(D); its code rounds them and the "
            "bias to bfloat16, which differs by {most:.2g} nats at {length:,} tokens and is "
            "computed here as well.",
            heads=heads,
            most=most,
            length=length,
        )
    return Finding(about, "agrees" if most < _NATS else "differs", words)


def _code(base: Any, heads: int, length: int) -> Tensor:
    """The bias of `length` keys [head, key] that the family's code makes, up to a number a row."""
    name = type(base).__name__
    if name == "MptModel":
        bias: Tensor = type(base).build_mpt_alibi_tensor(base, heads, length)
        return bias[:, 0]
    if name == "FalconModel":
        from transformers.models.falcon.modeling_falcon import build_alibi_tensor
    else:
        from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    built: Tensor = build_alibi_tensor(
        torch.ones(1, length, dtype=torch.long), heads, torch.float32
    )
    return built[:, 0]
