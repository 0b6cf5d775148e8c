"""The pass taken apart against the model's own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from viz_core.attribution.forward import Forward
from viz_core.encodings import Value, all_encodings
from viz_core.model import Transformer

Made = Callable[..., Transformer]
VARIANTS: dict[str, tuple[str, dict[str, Value]]] = {
    **{name: (name, {}) for name in all_encodings()},
    "dynamic": ("rope", {"scaling": "dynamic"}),
    "yarn": ("rope", {"scaling": "yarn", "factor": 4.0}),
}


@pytest.mark.parametrize("length", [1, 20, 300])
@pytest.mark.parametrize("variant", VARIANTS)
def test_with_nothing_replaced_it_is_the_models_own_pass(
    variant: str, length: int, small: Made, drawn: Callable[..., list[int]]
) -> None:
    """Past the trained length too, where there is a value."""
    encoding, parameters = VARIANTS[variant]
    model = small(encoding, 300 if encoding == "learned" else 32, **parameters)
    ids = drawn(length)
    forward = Forward(model, length)
    end = forward.finish(forward.placed(forward.vectors(ids)))
    torch.testing.assert_close(end, model(torch.tensor([ids])).stream, atol=1e-5, rtol=1e-5)


def test_attention_is_replaced_in_the_layers_that_are_still_to_come(
    small: Made, drawn: Callable[..., list[int]], dense: Callable[..., Tensor]
) -> None:
    model, ids = small("alibi"), drawn(12)
    forward = Forward(model, 12)
    start = forward.placed(forward.vectors(ids))
    asked = list[int]()

    def nothing(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        asked.append(layer)
        return torch.zeros_like(v)

    after = forward.close(0, start, forward.attend(0, *forward.project(0, start)))
    end = forward.finish(after, 1, nothing)
    assert asked == [1]
    expected = dense(
        model, forward.vectors(ids)[0], lambda layer, a, v: a @ v if layer == 0 else 0 * v
    )
    found = end[0] @ model.embedding.weight.T
    torch.testing.assert_close(found.double(), expected, atol=1e-3, rtol=1e-4)
