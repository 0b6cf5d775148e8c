"""Sinusoidal absolute positions (Vaswani et al. 2017, section 3.5), interleaved as in the paper."""

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


def sinusoid(positions: Tensor, width: int, base: float = 10000.0) -> Tensor:
    """PE[p, 2k] = sin(p w_k), PE[p, 2k+1] = cos(p w_k), w_k = base^(-2k / width).

    `positions` [position] in tokens; returns [position, width], float64, on the
    CPU: in float32 the argument of sin loses a digit for every factor of ten in position.
    """
    k = torch.arange(0, width, 2, dtype=torch.float64)
    angle = positions.cpu().double()[:, None] * base ** (-k / width)  # [position, width / 2]
    pairs = torch.stack((angle.sin(), angle.cos()), dim=-1)  # [position, width / 2, 2]
    return pairs.flatten(1)[:, :width]


class Sinusoidal(PositionEncoding):
    """Adds the fixed table to the token vectors, which the model scales by sqrt(width) first."""

    def __init__(self, geometry: Geometry, base: float = 10000.0) -> None:
        super().__init__(geometry)
        self.base = base

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """x [..., position, width] plus the table's rows at `positions`."""
        return x + sinusoid(positions, self.geometry.width, self.base).to(x)

    def law(self, distance: Tensor, query: Tensor, key: Tensor, scale: float) -> None:
        """None: after W_q and W_k the product depends on both positions, not on distance alone."""
        return None


ENCODING = Encoding(
    id="sinusoidal",
    name="Sinusoidal",
    acts_on="embeddings",
    paper=Paper(
        "Vaswani et al.",
        2017,
        "Attention Is All You Need",
        "https://arxiv.org/abs/1706.03762",
    ),
    latex=r"\mathrm{PE}_{p,2k} = \sin(p\,b^{-2k/d}),\quad "
    r"\mathrm{PE}_{p,2k+1} = \cos(p\,b^{-2k/d})",
    summary=mark(
        "A fixed table of sines and cosines is added to the token vectors, once, at the start."
    ),
    beyond=mark(
        "The formula has a value at any position, but the model has never seen those past L."
    ),
    law=mark("None: PE[p] . PE[q] depends on p - q only, but W_q and W_k undo that."),
    build=Sinusoidal,
    parameters=(
        Parameter("base", 10000.0, mark("Wavelengths run from 2 pi to 2 pi x base."), 2.0, 1e9),
    ),
)
