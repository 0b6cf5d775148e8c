"""No position encoding: order reaches the model only through the causal mask."""

from __future__ import annotations

import torch
from torch import Tensor

from viz_core.encodings._contract import Encoding, Paper, PositionEncoding
from viz_core.words import mark


class NoPE(PositionEncoding):
    """Nothing is added anywhere. Without a causal mask the model would be order-blind."""

    def law(self, distance: Tensor, query: Tensor, key: Tensor, scale: float) -> Tensor:
        """Flat: by position alone every key is as likely as any other. [head, distance]."""
        return torch.zeros(self.geometry.heads, *distance.shape, device=distance.device)


ENCODING = Encoding(
    id="nope",
    name="NoPE",
    acts_on="nothing",
    paper=Paper(
        "Kazemnejad et al.",
        2023,
        "The Impact of Positional Encoding on Length Generalization in Transformers",
        "https://arxiv.org/abs/2305.19466",
    ),
    latex=r"s_{ij} = \frac{q_i^\top k_j}{\sqrt{D}}",
    summary=mark("Nothing is added. Only the causal mask tells earlier from later."),
    beyond=mark("Defined at any length; nothing in it was trained for more keys than it has seen."),
    law=mark("Flat: with no position in the logits, every distance is alike."),
    build=NoPE,
)
