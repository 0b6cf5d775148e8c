"""Encodings as other people's models have them, where ours would compute them otherwise."""

from __future__ import annotations

import torch
from torch import Tensor

from viz_core.encodings import Geometry, PositionEncoding
from viz_core.encodings.alibi import ALiBi
from viz_core.encodings.rope import RoPE


class Absolute(PositionEncoding):
    """Positions that a model adds to its own token vectors: nothing is left to do in a layer."""

    def __init__(self, geometry: Geometry, end: int) -> None:
        super().__init__(geometry)
        self.end = end

    @property
    def longest(self) -> int:
        """The rows of the model's table that stand for positions."""
        return self.end

    def law(self, distance: Tensor, query: Tensor, key: Tensor, scale: float) -> None:
        """None: a table of free vectors has no curve by distance."""
        return None


class Sloped(ALiBi):
    """ALiBi with slopes [head] that are given: Falcon's, in bfloat16 and divided by sqrt(D)."""

    def __init__(self, geometry: Geometry, slope: Tensor) -> None:
        super().__init__(geometry)
        self.slope = slope.float()


class GivenRoPE(RoPE):
    """RoPE at a model's own frequencies [pair] in radians per token, and factor on cos and sin.

    `theta` is the base that they come from, in some way that our formulas don't know.
    `late` takes over once more than `switch` positions exist, as LongRoPE has it.
    """

    def __init__(
        self,
        geometry: Geometry,
        given: Tensor,
        factor: float,
        theta: float,
        layout: str,
        late: Tensor | None = None,
        switch: int = 0,
    ) -> None:
        super().__init__(geometry, theta, layout=layout, rotary=2 * len(given))
        self.given, self.factor = given.double().cpu(), factor
        self.late = self.given if late is None else late.double().cpu()
        self.switch = switch

    def frequencies(self, seen: int) -> tuple[Tensor, float]:
        """(radians per token [pair], factor on cos and sin) when `seen` positions exist."""
        return (self.late if seen > self.switch else self.given), self.factor


def difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest relative difference of two sets of frequencies; infinite if not as many."""
    if ours.shape != theirs.shape:
        return float("inf")
    theirs = theirs.double().cpu()
    return float(
        ((ours - theirs).abs() / torch.maximum(ours.abs(), theirs.abs()).clamp(min=1e-30)).max()
    )
