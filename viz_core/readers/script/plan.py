"""How the parts of a layout are put together: what the file settles, and what has to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from viz_core.encodings import Parameter
from viz_core.readers.description import ForeignSizes
from viz_core.readers.script import families, sizes
from viz_core.readers.script.evidence import Evidence
from viz_core.readers.script.inquiry import Inquiry
from viz_core.readers.script.layouts import Layout
from viz_core.readers.script.sheet import Sheet
from viz_core.words import mark, say

ACTIVATIONS = ("gelu", "gelu-tanh", "relu", "silu")


@dataclass(frozen=True)
class Plan:
    """What a `Stack` needs beside its weights.

    `order` of the rows of a fused projection: "together" (all queries, all keys, all values) or
    "by-head". `norms` "before" attention and MLP, or "after" them and their residual; `norm`
    "layer" or "rms". `scale` is what dot products are multiplied by, `embedding_scale` token
    vectors. `tied`: the head is the embedding.
    """

    sizes: ForeignSizes
    hidden: int  # of the MLP; 0 without one
    scale: float
    order: str
    norms: str
    norm: str
    epsilon: float
    activation: str
    residual: bool
    embedding_scale: float
    tied: bool
    windows: tuple[int | None, ...] = ()  # [layer], of distances that a query sees; empty: all


def draw(inquiry: Inquiry, sheet: Sheet, layout: Layout, evidence: Evidence) -> Plan:
    """The plan; questions and findings are left in `inquiry`.

    Raises UsageError for answers, DamagedCheckpoint for a file that contradicts itself.
    """
    family, roles = families.known(layout, sheet), layout.layers[0]
    settled = sizes.settle(inquiry, layout, evidence, family)
    fused = "qkv.weight" in roles and layout.channels[0] == layout.channels[1]
    divisor = inquiry.choose(
        "divisor",
        ("sqrt-head", "sqrt-width", "one"),
        "one" if settled.encoding == "t5" else "sqrt-head",
        mark("What dot products are divided by: the root of a head's channels, or of the width's."),
        family.get("divisor"),
    )
    divided = {"sqrt-head": settled.head_dim, "sqrt-width": settled.width, "one": 1}[divisor]
    order = "together"
    if fused:
        order = inquiry.choose(
            "order",
            ("together", "by-head"),
            "together",
            mark(
                "The rows of the fused projection: all queries, all keys, all values; or by head."
            ),
            family.get("order"),
        )
    norms, norm, epsilon = _norms(inquiry, layout, family)
    activation = "gelu"
    if "up.weight" in roles:
        default = "silu" if "gate.weight" in roles else str(family.get("likely", "gelu"))
        activation = inquiry.choose(
            "activation", ACTIVATIONS, default, mark("Within the MLP."), family.get("activation")
        )
    scale, tied = "one", False
    if "embedding.weight" in layout.top:
        scale = inquiry.choose(
            "embedding_scale",
            ("one", "sqrt-width"),
            "one",
            mark("What token vectors are multiplied by before position is added."),
            family.get("embedding_scale"),
        )
        tied = settled.causal and _tied(inquiry, layout, family)
    return Plan(
        settled,
        hidden=layout.shape("up.weight")[0] if "up.weight" in roles else 0,
        scale=divided**-0.5,
        order=order,
        norms=norms,
        norm=norm,
        epsilon=epsilon,
        activation=activation,
        residual=_residual(inquiry, layout, family),
        embedding_scale=1.0 if scale == "one" else settled.width**0.5,
        tied=tied,
        windows=evidence.windows,
    )


def _norms(
    inquiry: Inquiry, layout: Layout, family: Mapping[str, str | float]
) -> tuple[str, str, float]:
    """(where norms are, their kind, their epsilon)."""
    held = {role for role in (*layout.layers[0], *layout.top) if role.startswith("norm")}
    if not held:
        words = say("None has weights; one without them leaves no trace, and none is assumed.")
        inquiry.note("norms", "unknown", words)
        return "before", "layer", 0.0
    norms = "before"
    if "norm1.weight" in held:
        norms = inquiry.choose(
            "norms",
            ("before", "after"),
            str(family.get("norms_likely", "before")),
            mark("Before attention and MLP, or after them and what they are added to."),
            family.get("norms"),
        )
    bias = any(role.endswith(".bias") for role in held)
    norm = inquiry.choose(
        "norm",
        ("rms", "layer"),
        "rms",
        mark("Root mean square alone, or LayerNorm, which takes the mean away first."),
        "layer" if bias else family.get("norm"),
        say("norms have a bias") if bias and "norm" not in family else "",
    )
    default = 1e-6 if norm == "rms" else 1e-5
    asked = Parameter("epsilon", default, mark("What norms add to the variance."), 0.0, 0.1)
    return norms, norm, float(inquiry.settle(asked, family.get("epsilon")))


def _tied(inquiry: Inquiry, layout: Layout, family: Mapping[str, str | float]) -> bool:
    if "head.weight" in layout.top:
        return False
    head = inquiry.choose(
        "head",
        ("tied", "none"),
        "tied",
        mark("Tokens are predicted with the embedding's own vectors, or not at all."),
        family.get("head"),
    )
    return head == "tied"


def _residual(inquiry: Inquiry, layout: Layout, family: Mapping[str, str | float]) -> bool:
    """Whether attention is added to the stream; with an MLP it always is, in Transformers."""
    if "up.weight" in layout.layers[0]:
        if "order" not in family:
            words = say("Assumed: attention and MLP are each added to the stream.")
            inquiry.note("residual", "unknown", words)
        return True
    if len(layout.layers) == 1 and not layout.top:
        return False  # nothing comes after that could tell the difference
    help = mark("What attention gives is added to the stream, or takes its place.")
    return inquiry.choose("residual", ("added", "replaced"), "added", help) == "added"
