"""A loaded model's encodings held against the formulas they are said to be, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from viz_core.encodings import PositionEncoding
from viz_core.encodings.alibi import ALiBi, slopes
from viz_core.encodings.rope import RoPE
from viz_core.encodings.t5 import T5, bucket
from viz_core.readers.description import Description, Finding
from viz_core.readers.huggingface import files, gguf
from viz_core.readers.huggingface.foreign import Foreign
from viz_core.readers.huggingface.given import Absolute, GivenRoPE, difference
from viz_core.readers.huggingface.positions import CLOSE, theirs
from viz_core.subject import Subject
from viz_core.words import mark, say

_FAR = 1 << 17  # tokens: past every edge of T5's buckets
_HALF = 0.01  # relative: some code has slopes, and some files frequencies, in 16 bits


def audit(subject: Subject, description: Description) -> tuple[Finding, ...]:
    """What a loaded model says to its description: a line for each encoding among its layers."""
    assert isinstance(subject, Foreign)
    found = [line for e in dict.fromkeys(subject.encodings) for line in _weighed(e, subject)]
    if description.format == "gguf" and isinstance(subject.encoding, RoPE):
        return (gguf.weighed(subject.encoding, subject, description.path),)
    return (*found, *_stored(subject, description))


def _weighed(encoding: PositionEncoding, subject: Foreign) -> Iterator[Finding]:
    if isinstance(encoding, GivenRoPE):
        yield _without(encoding)
    elif isinstance(encoding, RoPE):
        yield _frequencies(encoding, subject)
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


def _without(encoding: GivenRoPE) -> Finding:
    plain = RoPE(encoding.geometry, encoding.theta, rotary=encoding.rotary)
    most = difference(plain.frequencies(1)[0], encoding.given)
    return Finding(
        mark("inverse frequencies"),
        "differs",
        say(
            "No formula here gives those of transformers, which are used as they are; from base "
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


def _slopes(encoding: ALiBi, subject: Foreign) -> Finding:
    """The reference's slopes beside those of the bias that the model's own code makes."""
    exponent = float(subject.config.parameters["exponent"])
    heads = len(encoding.slope)
    if abs(exponent - 8) > CLOSE:
        words = say("The exponent is {exponent:g}, where the paper has 8.", exponent=exponent)
        return Finding(mark("ALiBi slopes"), "differs", words)
    most = difference(slopes(heads), _code(subject.base, heads))
    words = say(
        "The reference's for {heads} heads; the largest relative difference is {most:.0e}.",
        heads=heads,
        most=most,
    )
    if type(subject.base).__name__ == "FalconModel":
        words = say(
            "The reference's for {heads} heads; the largest relative difference is {most:.0e}, and "
            "they act divided by sqrt(D).",
            heads=heads,
            most=most,
        )
    return Finding(mark("ALiBi slopes"), "agrees" if most < _HALF else "differs", words)


def _code(base: Any, heads: int) -> Tensor:
    """The slope of each head [head] in the bias of two keys that the family's code makes."""
    name = type(base).__name__
    if name == "MptModel":
        bias: Tensor = type(base).build_mpt_alibi_tensor(base, heads, 2)
        return -bias[:, 0, 0]
    if name == "FalconModel":
        from transformers.models.falcon.modeling_falcon import build_alibi_tensor
    else:
        from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    two = torch.ones(1, 2, dtype=torch.long)
    built: Tensor = build_alibi_tensor(two, heads, torch.float32)
    return built[:, 0, 1]
