"""ALiBi: attention with linear biases (Press, Smith & Lewis 2022, section 3)."""

from __future__ import annotations

import math

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


def slopes(heads: int, exponent: float = 8.0) -> Tensor:
    """The slope m_h of each head, [head], float64.

    For a power of two, m_h = 2^(-exponent h / heads). Otherwise the slopes of the power of two
    below, then every other one of the power of two above: the reference `get_slopes`, which gives
    the same values as BLOOM, Falcon and MPT. Only the exponent is free: the reference's two
    constants, -8 for the first set and -4 for the second, are one number and half of it.
    """
    lower = 2 ** math.floor(math.log2(heads))
    first = [2.0 ** (-exponent * h / lower) for h in range(1, lower + 1)]
    between = [2.0 ** (-exponent * h / (2 * lower)) for h in range(1, 2 * lower + 1, 2)]
    return torch.tensor(first + between[: heads - lower], dtype=torch.float64)


class ALiBi(PositionEncoding):
    """-m_h d on the logits of every layer; fixed, unscaled by 1/sqrt(D_h), nothing on values."""

    def __init__(self, geometry: Geometry, exponent: float = 8.0) -> None:
        super().__init__(geometry)
        # float32 always: in bfloat16 m d takes steps of 2 to 16 tokens past distance 256;
        # no buffer, since buffers are cast along with a module
        self.slope = slopes(geometry.heads, exponent).float()

    def bias(self, distance: Tensor) -> Tensor:
        """-m_h d: [head, *distance.shape]."""
        shape = (-1,) + (1,) * distance.ndim
        return -self.slope.to(distance.device).view(shape) * distance


ENCODING = Encoding(
    id="alibi",
    name="ALiBi",
    acts_on="logits",
    paper=Paper(
        "Press, Smith & Lewis",
        2022,
        "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
        "https://arxiv.org/abs/2108.12409",
    ),
    latex=r"s_{ij} = \frac{q_i^\top k_j}{\sqrt{D}} - m_h (i-j),\quad m_h = 2^{-8h/H}",
    summary=mark(
        "A penalty grows linearly with distance; each head's slope is half the one before."
    ),
    beyond=mark("Defined at any length; the weight of far keys only falls."),
    law=mark("The head's nominal slope: a straight line of -m nats per token."),
    build=ALiBi,
    parameters=(
        Parameter(
            "exponent",
            8.0,
            mark("m_h = 2^(-exponent h / H); the paper's value is 8."),
            0.5,
            32.0,
        ),
    ),
)
