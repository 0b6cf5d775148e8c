"""What the names of a layout settle beside its shapes, since its code is known."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.script import names
from viz_core.readers.script.layouts import Layout
from viz_core.readers.script.sheet import Sheet
from viz_core.words import mark, say

Known = Mapping[str, str | float]

_KNOWN: dict[str, dict[str, str | float]] = {
    "nanogpt": {
        "attention": "causal",
        "divisor": "sqrt-head",
        "order": "together",
        "norms": "before",
        "norm": "layer",
        "epsilon": 1e-5,
        "embedding_scale": "one",
        "head": "tied",
    },
    "torch-encoder": {
        "divisor": "sqrt-head",
        "order": "together",
        "norm": "layer",
        "likely": "relu",  # the default activation of the module
    },
    "meta-llama": {
        "attention": "causal",
        "divisor": "sqrt-head",
        "norms": "before",
        "norm": "rms",
        "epsilon": 1e-5,
        "activation": "silu",
        "embedding_scale": "one",
        "encoding": "rope",
        "layout": "interleaved",
        "scaling": "none",
    },
    "attention-atlas": {
        "attention": "causal",
        "divisor": "sqrt-head",
        "order": "together",
        "norms": "before",
        "norm": "rms",
        "epsilon": torch.finfo(torch.float32).eps,
        "activation": "gelu",
        "embedding_scale": "sqrt-width",
        "head": "tied",
    },
}

WORDS = {
    "nanogpt": mark(
        "The names of minGPT and nanoGPT: LayerNorm before each part, causal attention, dot "
        "products divided by the root of a head's channels."
    ),
    "torch-encoder": mark(
        "The names of torch.nn.TransformerEncoderLayer: LayerNorm, dot products "
        "divided by the root of a head's channels."
    ),
    "meta-llama": mark(
        "The names of Meta's own Llama and of llama2.c: RMSNorm before each part, neighbouring "
        "channels turned by RoPE, an MLP with a gate."
    ),
    "attention-atlas": mark(
        "The names of Attention Atlas's own Transformer: RMSNorm before each part, "
        "GELU, token vectors scaled by the root of the width, a tied head."
    ),
    "attention-stack": mark(
        "Attention under names that many scripts use; how its parts are put "
        "together isn't written in a state dict."
    ),
    "attention-layer": mark("One attention layer alone."),
}


def known(layout: Layout, sheet: Sheet) -> Known:
    """The settled values by question, and likely ones under "likely" and "norms_likely"."""
    family = dict(_KNOWN.get(layout.family, {}))
    if layout.family == "meta-llama":  # its params.json comes first
        family = {n: v for n, v in family.items() if sheet.said(*names.CONFIG.get(n, ())) is None}
        if sheet.said("use_scaled_rope"):
            raise DamagedCheckpoint(
                say(
                    "Expected plain RoPE beside Meta's names in {file}; its params.json sets "
                    "use_scaled_rope without the numbers of it, so convert the checkpoint to "
                    "transformers' format, whose config.json has them.",
                    file=sheet.called,
                )
            )
    if layout.family == "nanogpt":
        if layout.transposed or sheet.said("embd_pdrop", "resid_pdrop") is not None:
            family["activation"] = "gelu-tanh"  # GPT-2's own files, and minGPT's settings
        elif "head.weight" in layout.top and not shares_head(layout, sheet):
            family["likely"] = "gelu-tanh"  # minGPT, whose head is its own
    if layout.family == "torch-encoder":
        family["norms_likely"] = "before" if "norm.weight" in layout.top else "after"
    return family


def shares_head(layout: Layout, sheet: Sheet) -> bool:
    """Whether the head holds the same numbers as the embedding: by the first and last rows."""
    (embedding,), (head,) = (layout.top.get(f"{n}.weight", ("",)) for n in ("embedding", "head"))
    if not (embedding and head):
        return False
    last = sheet.shapes[head][0] - 1
    rows = [[sheet.part(name, row) for row in (0, last)] for name in (embedding, head)]
    return all(torch.equal(a, b) for a, b in zip(*rows, strict=True))
