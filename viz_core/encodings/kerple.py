"""KERPLE: a learned penalty by distance, as a logarithm or a power (Chi et al. 2022)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from viz_core.encodings._contract import (
    Encoding,
    Geometry,
    Paper,
    Parameter,
    PositionEncoding,
)
from viz_core.words import mark

KERNELS = ("log", "power")
LEAST = 0.01  # of r1 and r2: both stay positive, or far keys would gain weight
STEEPEST = 2.0  # of the power kernel's r2: past it the kernel is not positive definite


def kernel(distance: Tensor, r1: Tensor, r2: Tensor, kind: str = "log") -> Tensor:
    """-r1 ln(1 + r2 d), or -r1 d^r2 where `kind` is "power": [head, *distance.shape], nats.

    `r1`, `r2` [head]; `distance` of any shape, in tokens.
    """
    shape = (-1,) + (1,) * distance.ndim
    r1, r2, d = r1.view(shape), r2.view(shape), distance.to(r1)
    return -r1 * torch.log1p(r2 * d) if kind == "log" else -r1 * d.pow(r2)


class KERPLE(PositionEncoding):
    """Adds the kernel to the logits of every layer; r1 and r2 are learned, one pair per head.

    They are drawn as the authors' code draws them: the factor of the distance from (0, 1), the
    other from (0, 2), evenly.
    """

    def __init__(self, geometry: Geometry, kernel: str = "log") -> None:
        super().__init__(geometry)
        self.kernel = kernel
        widest = (2.0, 1.0) if kernel == "log" else (1.0, 2.0)
        self.r1, self.r2 = (nn.Parameter(w * torch.rand(geometry.heads)) for w in widest)

    def bias(self, distance: Tensor) -> Tensor:
        """[head, *distance.shape], from r1 and r2 as far as they may go."""
        return kernel(distance, *self.allowed(), self.kernel)

    def allowed(self) -> tuple[Tensor, Tensor]:
        """r1 and r2 [head], moved to the nearest value that each may have.

        The authors' code does the same before every pass. The gradient goes through unchanged, or
        a head that once stepped over the edge would stay there.
        """
        most = STEEPEST if self.kernel == "power" else None
        return _within(self.r1, None), _within(self.r2, most)


def _within(value: Tensor, most: float | None) -> Tensor:
    return value + (value.clamp(LEAST, most) - value).detach()


ENCODING = Encoding(
    id="kerple",
    name="KERPLE",
    acts_on="logits",
    paper=Paper(
        "Chi et al.",
        2022,
        "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
        "https://arxiv.org/abs/2205.09921",
    ),
    latex=r"s_{ij} = \frac{q_i^\top k_j}{\sqrt{D}} - r_{1,h}\,\ln(1 + r_{2,h}\,(i-j))"
    r",\quad \mathrm{or}\ -r_{1,h}\,(i-j)^{r_{2,h}}",
    summary=mark(
        "A learned penalty grows with distance, as a logarithm or as a power, in each head."
    ),
    beyond=mark(
        "Defined at any length; the logarithm hardly grows there, so far keys keep some weight."
    ),
    law=mark("The head's own kernel, from its two learned numbers."),
    build=KERPLE,
    parameters=(
        Parameter("kernel", "log", mark("How the penalty grows with distance."), choices=KERNELS),
    ),
)
