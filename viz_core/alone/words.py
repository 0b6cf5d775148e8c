"""What is said of an encoding by position alone: its knobs, its title, what its logits are."""

from __future__ import annotations

from collections.abc import Mapping

from viz_core import variants
from viz_core.encodings import Encoding, Parameter, Value

# What training would fill in, and the reader sets instead.
STAND_INS = {
    "t5": (
        Parameter(
            "fall",
            0.25,
            "How far the table falls from one bucket to the next, in nats. The real one is "
            "learned; this one is yours, so that the steps can be seen.",
            0.0,
            2.0,
        ),
    ),
    "kerple": (
        Parameter(
            "r1",
            1.0,
            "The factor of the kernel, the same in all heads here. The real ones are learned; "
            "training starts from 0 to 2 (log) or 0 to 1 (power).",
            0.1,
            2.0,
        ),
        Parameter(
            "r2",
            0.5,
            "The factor of the distance (log), or its power. The real ones are learned; training "
            "starts from 0 to 1 (log) or 0 to 2 (power).",
            0.1,
            2.0,
        ),
    ),
}
_TURNED = (
    "constant q and k, each pair of channels a vector of length 1 at the same angle, which no "
    "trained head is"
)
NAMES = {"theta": "θ =", "fall": "falling by", "r1": "r₁ =", "r2": "r₂ ="}
STANDING = {  # what the logits are, and what stands for what training would fill in
    "nope": "no logit at all, so every key weighs the same",
    "sinusoidal": "the products of the position vectors over the root of their width, as if W_q "
    "and W_k passed them on unchanged",
    "t5": "a table that falls by {fall:g} nats from bucket to bucket, chosen here, since the real "
    "one is learned",
    "alibi": "the bias",
    "rope": _TURNED,
    "prope": _TURNED,
    "xpos": _TURNED,
    "sandwich": "the bias",
    "kerple": "the kernel with r₁ = {r1:g} and r₂ = {r2:g}, chosen here, since the real ones are "
    "learned",
}


def knobs(card: Encoding) -> tuple[Parameter, ...]:
    """All that can be set of an encoding here: its own parameters, and what training would set."""
    own = tuple(p for p in card.parameters if not p.aside)
    return own + STAND_INS.get(card.id, ())


def title(card: Encoding, values: Mapping[str, Value]) -> str:
    """The name, with whatever is not at its default."""
    said = [card.name]
    changed = {p.name: v for p in knobs(card) if (v := values[p.name]) != p.default}
    changed.pop("layout", None)  # changes nothing that is seen
    if stretch := scaling(values):
        said.append(stretch)
    for name in ("scaling", "factor"):
        changed.pop(name, None)
    for name, value in changed.items():
        shown = value if isinstance(value, str) else f"{value:,.10g}"
        said.append(f"{NAMES.get(name, name.replace('_', ' '))} {shown}")
    return ", ".join(said)


def scaling(values: Mapping[str, Value]) -> str:
    """The words for RoPE's scaling among `values`; "" without one.

    Dynamic NTK's factor isn't the stretch: that is N / L with a factor of 1.
    """
    kind, factor = str(values.get("scaling", "none")), values.get("factor", 1.0)
    if kind == "none":
        return ""
    if kind == "dynamic":
        return f"dynamic NTK, factor {factor:g}"
    return f"{variants.FACTORS[kind]} s = {factor:g}"


def standing(card: Encoding, values: Mapping[str, Value]) -> str:
    """What an encoding's logits are made of here, without a full stop."""
    if card.id in STANDING:
        return STANDING[card.id].format(**values)
    said = card.law.rstrip(".")
    plain = said.split(maxsplit=1)[0][1:].islower()  # no name: a sentence goes on with it
    return said[:1].lower() + said[1:] if plain else said
