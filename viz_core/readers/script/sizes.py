"""Heads, encoding, mask and trained length of a layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from viz_core.encodings import Parameter, Value, get
from viz_core.errors import UsageError
from viz_core.readers.description import ForeignSizes
from viz_core.readers.script.evidence import Evidence
from viz_core.readers.script.inquiry import Inquiry
from viz_core.readers.script.layouts import Layout
from viz_core.words import mark, say

LARGEST = 2**31 - 1
# encodings that may leave nothing in a file
TRACELESS = ("nope", "rope", "alibi", "sinusoidal", "sandwich", "prope", "xpos")


def settle(
    inquiry: Inquiry, layout: Layout, evidence: Evidence, family: Mapping[str, str | float]
) -> ForeignSizes:
    """The sizes; questions and findings are left in `inquiry`.

    Raises UsageError for answers, DamagedCheckpoint for a file that contradicts itself.
    """
    heads, head_dim = _heads(inquiry, layout, evidence)
    tokens = layout.top.get("embedding.weight")
    encoder = layout.family == "torch-encoder" and "head.weight" not in layout.top
    encoding = _encoding(inquiry, layout, evidence, head_dim, family)
    attention = inquiry.choose(
        "attention",
        ("causal", "bidirectional"),
        "bidirectional" if encoder else "causal",
        mark("Whether a token sees only those before it, or all."),
        _known(evidence, family),
    )
    known = dict(evidence.parameters)
    if evidence.turning is not None:
        known["rotary"] = 0 if evidence.turning == head_dim else evidence.turning
    if encoding == "t5":
        known["bidirectional"] = int(attention == "bidirectional")
    known = {**{n: v for n, v in family.items() if n in ("layout", "scaling")}, **known}
    parameters = _parameters(inquiry, encoding, known, evidence.likely)
    asked = Parameter(
        "length", evidence.rows or 0, mark("The trained length in tokens; 0: unknown."), 0, LARGEST
    )
    length = inquiry.settle(asked, evidence.length, say("the positions or the mask end there"))
    found = ForeignSizes(
        encoding,
        layers=len(layout.layers),
        heads=heads,
        kv_heads=layout.channels[1] // head_dim,
        head_dim=head_dim,
        width=layout.width,
        vocabulary=layout.shape("embedding.weight", None)[0] if tokens else 0,
        length=int(length),
        causal=attention == "causal",
        parameters=parameters,
    )
    _check(inquiry, found)
    return found


def _heads(inquiry: Inquiry, layout: Layout, evidence: Evidence) -> tuple[int, int]:
    """(heads, channels of a head)."""
    inner, keys = layout.channels
    known, why = evidence.heads, say("the encoding has one entry for each")
    if layout.separate_heads:
        if known not in (None, layout.separate_heads):
            raise inquiry.contradiction(
                say(
                    "Expected an encoding of {heads} heads, which have projections of their own; "
                    "it is one of {known}.",
                    heads=layout.separate_heads,
                    known=known,
                )
            )
        known, why = layout.separate_heads, say("each has projections of its own")
    usual = (evidence.turning, 64 if inner > 64 else None, inner // 8, inner // 4, inner // 2)
    likely = next((d for d in usual if d and keys % d == 0), keys)
    asked = Parameter("heads", inner // likely, mark("Query heads of a layer."), 1, inner)
    heads = int(inquiry.settle(asked, known, why))
    if inner % heads or keys % (inner // heads):
        words = say(
            "Expected heads that divide {inner} channels of queries evenly; got {heads}.",
            inner=inner,
            heads=heads,
        )
        if keys != inner:
            words = say(
                "Expected heads that divide {inner} channels of queries and {keys} of keys evenly; "
                "got {heads}.",
                inner=inner,
                keys=keys,
                heads=heads,
            )
        raise inquiry.contradiction(words)
    return heads, inner // heads


def _encoding(
    inquiry: Inquiry,
    layout: Layout,
    evidence: Evidence,
    head_dim: int,
    family: Mapping[str, str | float],
) -> str:
    likely = "rope" if head_dim % 2 == 0 else "nope"
    if layout.family == "torch-encoder":  # its queries and keys can't be rotated
        likely = "sinusoidal" if layout.top.get("embedding.weight") else "nope"
    choices = TRACELESS if evidence.encoding is None else (*TRACELESS, "learned", "t5")
    help = mark("The position encoding, of those that leave no trace in a file.")
    return inquiry.choose(
        "encoding", choices, likely, help, evidence.encoding or family.get("encoding")
    )


def _parameters(
    inquiry: Inquiry, encoding: str, known: Mapping[str, Value], likely: Mapping[str, Value]
) -> dict[str, Value]:
    """The encoding's parameters: what is known of them, or likely, and else by its own card."""
    found = {}
    for parameter in get(encoding).parameters:
        parameter = replace(parameter, default=likely.get(parameter.name, parameter.default))
        value = known.get(parameter.name)
        try:
            value = None if value is None else parameter.check(value)
        except UsageError as error:
            raise inquiry.contradiction(str(error)) from None
        found[parameter.name] = inquiry.settle(parameter, value)
    return found


def _check(inquiry: Inquiry, sizes: ForeignSizes) -> None:
    """Raises the contradiction of an encoding that can't have these sizes."""
    if sizes.parameters.get("scaling") in ("dynamic", "yarn", "llama3") and not sizes.length:
        raise inquiry.contradiction(
            say(
                "Expected a trained length, by which {scaling} scales frequencies; got 0, unknown.",
                scaling=sizes.parameters["scaling"],
            )
        )
    if sizes.encoding != "learned":  # whose table would be as large as the length says
        try:
            get(sizes.encoding).make(sizes.geometry, sizes.parameters)
        except UsageError as error:
            raise inquiry.contradiction(str(error)) from None


def _known(evidence: Evidence, family: Mapping[str, str | float]) -> Value | None:
    """What a token sees, where the file's mask or its family says so."""
    if evidence.causal is None:
        return family.get("attention")
    return "causal" if evidence.causal else "bidirectional"
