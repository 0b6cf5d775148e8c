"""What is said of an encoding by position alone: its knobs, its title, what its logits are."""

from __future__ import annotations

from collections.abc import Mapping

from viz_core import variants
from viz_core.encodings import Encoding, Parameter, Value
from viz_core.words import mark, say

# What training would fill in, and the reader sets instead.
STAND_INS = {
    "t5": (
        Parameter(
            "fall",
            0.25,
            mark(
                "How far the table falls from one bucket to the next, in nats. The real one is "
                "learned; this one is yours, so that the steps can be seen."
            ),
            0.0,
            2.0,
        ),
    ),
    "kerple": (
        Parameter(
            "r1",
            1.0,
            mark(
                "The factor of the kernel, the same in all heads here. The real ones are learned; "
                "training starts from 0 to 2 (log) or 0 to 1 (power)."
            ),
            0.1,
            2.0,
        ),
        Parameter(
            "r2",
            0.5,
            mark(
                "The factor of the distance (log), or its power. The real ones are learned; "
                "training starts from 0 to 1 (log) or 0 to 2 (power)."
            ),
            0.1,
            2.0,
        ),
    ),
}
_TURNED = mark(
    "constant q and k, each pair of channels a vector of length 1 at the same angle, which no "
    "trained head is"
)
NAMES = {  # of parameters with their values
    "theta": "θ = {value}",
    "fall": mark("falling by {value}"),
    "r1": "r₁ = {value}",
    "r2": "r₂ = {value}",
    "kernel": mark("kernel {value}"),
    "exponent": mark("exponent {value}"),
    "buckets": mark("buckets {value}"),
    "max_distance": mark("max distance {value}"),
    "base": mark("base {value}"),
    "share": mark("share {value}"),
    "waves": mark("waves {value}"),
    "span": mark("span {value}"),
}
STANDING = {  # what the logits are, and what stands for what training would fill in
    "nope": mark("no logit at all, so every key weighs the same"),
    "sinusoidal": mark(
        "the products of the position vectors over the root of their width, as if W_q and W_k "
        "passed them on unchanged"
    ),
    "t5": mark(
        "a table that falls by {fall:g} nats from bucket to bucket, chosen here, since the real "
        "one is learned"
    ),
    "alibi": mark("the bias"),
    "rope": _TURNED,
    "prope": _TURNED,
    "xpos": _TURNED,
    "sandwich": mark("the bias"),
    "kerple": mark(
        "the kernel with r₁ = {r1:g} and r₂ = {r2:g}, chosen here, since the real ones are learned"
    ),
}


def knobs(card: Encoding) -> tuple[Parameter, ...]:
    """All that can be set of an encoding here: its own parameters, and what training would set."""
    own = tuple(p for p in card.parameters if not p.aside)
    return own + STAND_INS.get(card.id, ())


def title(card: Encoding, values: Mapping[str, Value]) -> str:
    """The name, with whatever is not at its default."""
    found = card.name
    changed = {p.name: v for p in knobs(card) if (v := values[p.name]) != p.default}
    changed.pop("layout", None)  # changes nothing that is seen
    for name in ("scaling", "factor"):
        changed.pop(name, None)
    stretch = scaling(values)
    for setting in ([stretch] if stretch else []) + [_named(*one) for one in changed.items()]:
        found = say("{name}, {setting}", name=found, setting=setting)
    return found


def _named(name: str, value: Value) -> str:
    shown = value if isinstance(value, str) else f"{value:,.10g}"
    if name not in NAMES:  # of an encoding of one's own
        return f"{name.replace('_', ' ')} {shown}"
    return say(NAMES[name], value=shown)


def scaling(values: Mapping[str, Value]) -> str:
    """The words for RoPE's scaling among `values`; "" without one.

    Dynamic NTK's factor isn't the stretch: that is N / L with a factor of 1.
    """
    kind, factor = str(values.get("scaling", "none")), values.get("factor", 1.0)
    if kind == "none":
        return ""
    if kind == "dynamic":
        return say("dynamic NTK, factor {factor:g}", factor=factor)
    return f"{variants.FACTORS[kind]} s = {factor:g}"


def standing(card: Encoding, values: Mapping[str, Value]) -> str:
    """What an encoding's logits are made of here, without a full stop."""
    if card.id in STANDING:
        return say(STANDING[card.id], **values)
    said = say(card.law).rstrip(".。")
    plain = said.split(maxsplit=1)[0][1:].islower()  # no name: a sentence goes on with it
    return said[:1].lower() + said[1:] if plain else said
