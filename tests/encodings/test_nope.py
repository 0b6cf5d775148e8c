"""NoPE: nothing anywhere, so that order reaches a model only through the causal mask."""

from __future__ import annotations

import torch

from viz_core.encodings import Geometry, get
from viz_core.model import ModelConfig, Transformer


def test_does_nothing_in_each_of_the_three_places() -> None:
    module = get("nope").make(Geometry(heads=3, head_dim=4, width=12, length=8))
    x, positions = torch.randn(3, 5, 4), torch.arange(5)
    assert module.embed(x, positions) is x
    assert module.rotate(x, positions, 5) is x
    assert module.bias(positions) is None
    assert not list(module.parameters())


def test_law_is_flat() -> None:
    module = get("nope").make(Geometry(heads=3, head_dim=4, width=12, length=8))
    law = module.law(torch.arange(50), torch.randn(3, 4), torch.randn(3, 4), 0.5)
    assert torch.equal(law, torch.zeros(3, 50))


def last_logits(encoding: str, layers: int, tokens: list[int]) -> torch.Tensor:
    torch.manual_seed(0)
    model = Transformer(ModelConfig(encoding, layers, 2, 16, 11, 32)).double()
    with torch.no_grad():
        return model(torch.tensor([tokens])).logits[0, -1]


def test_one_layer_cannot_tell_the_order_of_earlier_tokens_and_two_can() -> None:
    """One row of attention is a weighted mean over a set. A second layer sees masked means."""
    tokens, shuffled = [1, 2, 3, 4, 5, 6], [4, 2, 5, 1, 3, 6]

    def gap(encoding: str, layers: int) -> float:
        a, b = (last_logits(encoding, layers, t) for t in (tokens, shuffled))
        return float((a - b).abs().max())

    assert gap("nope", 1) < 1e-12
    assert gap("nope", 2) > 1e-5
    assert gap("rope", 1) > 1e-5
