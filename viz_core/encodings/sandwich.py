"""Sandwich: the inner products of sinusoidal vectors as a bias (Chi et al. 2023)."""

from __future__ import annotations

import torch
from torch import Tensor

from viz_core.encodings._contract import (
    Encoding,
    Geometry,
    Paper,
    Parameter,
    PositionEncoding,
)
from viz_core.words import mark


def gram(distance: Tensor, waves: int = 64, first: int = 0) -> Tensor:
    """sum_k cos(d 10000^(-k / waves)) - waves, k = first .. first + waves - 1: float64, on the CPU.

    The product of two sinusoidal vectors of width d' = 2 waves at `distance` (any shape, tokens),
    less what it is at distance 0: a constant, which no softmax sees.
    """
    d = distance.cpu().double()
    total = torch.full_like(d, -float(waves))
    for k in range(first, first + waves):  # one by one: all at once would be `waves` times as large
        total += torch.cos(d * 10000.0 ** (-k / waves))
    return total


class Sandwich(PositionEncoding):
    """Adds the product over 8 h / H to the logits of head h = 1 .. H, in every layer; fixed.

    The first head's bias is the steepest, the last one's an eighth of the plain product.
    """

    def __init__(self, geometry: Geometry, waves: int = 64, first: int = 0) -> None:
        super().__init__(geometry)
        self.waves, self.first = waves, first

    def bias(self, distance: Tensor) -> Tensor:
        """[head, *distance.shape], float32."""
        heads = self.geometry.heads
        ratio = torch.arange(1, heads + 1, dtype=torch.float64) * 8 / heads
        found = gram(distance, self.waves, self.first) / ratio.view(-1, *(1,) * distance.ndim)
        return found.float().to(distance.device)


ENCODING = Encoding(
    id="sandwich",
    name="Sandwich",
    acts_on="logits",
    paper=Paper(
        "Chi et al.",
        2023,
        "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis",
        "https://arxiv.org/abs/2212.10356",
    ),
    latex=r"s_{ij} = \frac{q_i^\top k_j}{\sqrt{D}} + \frac{H}{8h} \left(\sum_{k=0}^{d'/2-1} "
    r"\cos\frac{i-j}{10000^{2k/d'}} - \frac{d'}{2}\right)",
    summary=mark(
        "The products of sinusoidal vectors join the logits: they fall like a logarithm, with "
        "ripples."
    ),
    beyond=mark("Defined at any length; the bias falls ever more slowly, and ripples on the way."),
    law=mark("The head's own bias: the same curve in every head, divided by 8 h / H."),
    build=Sandwich,
    parameters=(
        Parameter(
            "waves",
            64,
            mark("How many cosines are added, half the width d' of the vectors; the paper has 64."),
            1,
            1024,
        ),
        Parameter(
            "first",
            0,
            mark("The first wave: 0 as in the authors' listing, 1 as in NeMo's code."),
            0,
            1,
            aside=True,
        ),
    ),
)
