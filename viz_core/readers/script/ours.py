"""The state dict of our own trainer, without its description: read back as what it was."""

from __future__ import annotations

import torch

from viz_core.errors import DamagedCheckpoint
from viz_core.model import ModelConfig, Transformer
from viz_core.readers.script.survey import Survey
from viz_core.words import say


def transformer(found: Survey) -> Transformer | None:
    """The `model.Transformer` whose state dict this is; None if it is another model's.

    Raises DamagedCheckpoint for weights that aren't finite.
    """
    sizes, shapes = found.plan.sizes, found.sheet.shapes
    if found.layout.family != "attention-atlas" or found.plan.hidden % sizes.width:
        return None
    config = ModelConfig(
        sizes.encoding,
        sizes.layers,
        sizes.heads,
        sizes.width,
        sizes.vocabulary,
        sizes.length,
        found.plan.hidden // sizes.width,
        dict(sizes.parameters),
    )
    (embedding,) = found.layout.top["embedding.weight"]
    wrapper = embedding.removesuffix("embedding.weight")  # such as torch.compile's _orig_mod.
    with torch.device("meta"):
        expected = {n: tuple(t.shape) for n, t in Transformer(config).state_dict().items()}
    if {f"{wrapper}{name}": shape for name, shape in expected.items()} != dict(shapes):
        return None
    weights = {n.removeprefix(wrapper): found.sheet.tensor(n).float() for n in shapes}
    if not all(bool(w.isfinite().all()) for w in weights.values()):
        raise DamagedCheckpoint(
            say(
                "Expected finite weights in {file}; some are NaN or infinite, so train it again.",
                file=found.sheet.called,
            )
        )
    model = Transformer(config)
    model.load_state_dict(weights)
    return model
