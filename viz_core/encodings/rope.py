"""RoPE: rotary position embedding (Su et al. 2021, sections 3.2 and 3.4.2)."""

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
from viz_core.encodings._scalings import SCALINGS, Scaling, frequencies
from viz_core.errors import UsageError
from viz_core.words import mark, say

LAYOUTS = ("half", "interleaved")


def rotate(x: Tensor, angle: Tensor, layout: str = "half", factor: float = 1.0) -> Tensor:
    """Each pair of channels of x [..., position, channel] turned by `angle` [position, pair].

    layout "half" pairs channel k with k + D/2 (Llama, GPT-NeoX); "interleaved" pairs 2k with
    2k + 1 (GPT-J, RoFormer). `factor` multiplies the result (YaRN's temperature). Channels past
    the last pair pass through as they are (partial rotary).
    """
    turning = 2 * angle.shape[-1]
    if turning < x.shape[-1]:
        turned = rotate(x[..., :turning], angle, layout, factor)
        return torch.cat((turned, x[..., turning:]), dim=-1)
    cos, sin = ((f(angle) * factor).to(x) for f in (torch.cos, torch.sin))
    if layout == "half":
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)


def to_half(x: Tensor) -> Tensor:
    """Channels of the interleaved layout in half-split order: even ones first, then odd ones.

    Scores are the same when queries and keys are both converted; works on weights [out, in] of
    one head when applied along their last axis transposed.
    """
    return torch.cat((x[..., 0::2], x[..., 1::2]), dim=-1)


def to_interleaved(x: Tensor) -> Tensor:
    """The inverse of `to_half`."""
    return torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)


def envelope(distance: Tensor, head_dim: int, base: float = 10000.0) -> Tensor:
    """mean_j |S_j(d)|, S_j = sum_{k<j} e^(i d theta_k), j = 1 .. D/2 (Su et al. 2021, 3.4.3).

    The factor that falls with distance in the upper bound on a score of smoothly varying q and k;
    it says nothing about real q and k, whose scores may peak at any distance. [distance].
    """
    theta, _ = frequencies(head_dim, base)
    phase = distance.double()[:, None] * theta  # [distance, pair]
    partial = torch.polar(torch.ones_like(phase), phase).cumsum(-1)
    return partial.abs().mean(-1)


class RoPE(PositionEncoding):
    """Rotates queries and keys of every layer; scores then depend on q, k and distance alone.

    Keys that were cached after rotation stay valid for every scaling but `dynamic`, whose base
    changes with the length seen: there a cache of rotated keys mixes bases, and decoding differs
    from one full pass (YaRN, section 3.3).
    """

    def __init__(
        self,
        geometry: Geometry,
        theta: float = 10000.0,
        scaling: str = "none",
        factor: float = 1.0,
        layout: str = "half",
        rotary: int = 0,
    ) -> None:
        super().__init__(geometry)
        least = 4 if scaling in ("ntk", "dynamic") else 2  # they divide by D - 2
        self.rotary = rotary or geometry.head_dim
        if self.rotary % 2 or self.rotary < least:
            raise UsageError(
                say(
                    "Expected an even head width of at least {least} for RoPE with scaling "
                    "{scaling}; got {width}.",
                    least=least,
                    scaling=scaling,
                    width=self.rotary,
                )
            )
        if self.rotary > geometry.head_dim:
            raise UsageError(
                say(
                    "Expected at most the head's {width} channels to turn; got rotary {rotary}.",
                    width=geometry.head_dim,
                    rotary=self.rotary,
                )
            )
        self.theta, self.layout = theta, layout
        self.scaling = Scaling(scaling, factor)
        self.temperature: float | None = None  # on cos and sin, in place of the scaling's own

    def plain(self, theta: float) -> Tensor:
        """Radians per token of the pairs that turn [pair], at base `theta` and unscaled."""
        return frequencies(self.rotary, theta)[0]

    def frequencies(self, seen: int) -> tuple[Tensor, float]:
        """(radians per token [pair], factor on cos and sin) when `seen` positions exist."""
        theta, own = frequencies(self.rotary, self.theta, self.scaling, self.geometry.length, seen)
        return theta, own if self.temperature is None else self.temperature

    def rotate(self, x: Tensor, positions: Tensor, seen: int) -> Tensor:
        """x [..., head, position, channel] turned by its positions."""
        angle, factor = self._angle(positions, seen)
        return rotate(x, angle, self.layout, factor)

    def unrotate(self, x: Tensor, positions: Tensor, seen: int) -> Tensor:
        """The inverse of `rotate`."""
        angle, factor = self._angle(positions, seen)
        return rotate(x, -angle, self.layout, 1 / factor)

    def _angle(self, positions: Tensor, seen: int) -> tuple[Tensor, float]:
        theta, factor = self.frequencies(seen)
        # float64, on the CPU (some devices have none): float32 loses digits as positions grow
        return positions.cpu().double()[:, None] * theta, factor

    def law(self, distance: Tensor, query: Tensor, key: Tensor, scale: float) -> Tensor:
        """scale x Re sum_k q_k conj(k_k) e^(i d theta_k): what the mean q and k alone would score.

        [head, distance]; an exact part of the score, to which content adds the rest. Channels that
        don't turn add a constant.
        """
        query, key = query.double().cpu(), key.double().cpu()
        still = (query[..., self.rotary :] * key[..., self.rotary :]).sum(-1, keepdim=True)
        query, key = query[..., : self.rotary], key[..., : self.rotary]
        if self.layout == "interleaved":
            query, key = to_half(query), to_half(key)
        q, k = (torch.complex(*v.chunk(2, dim=-1)) for v in (query, key))
        kernel = torch.einsum("hp,dp->hd", q * k.conj(), self._waves(distance)).real
        return (scale * (kernel + still)).float()

    def _waves(self, distance: Tensor) -> Tensor:
        """factor^2 e^(i d theta_k): [distance, pair], complex, in double precision."""
        theta, factor = self.frequencies(int(distance.max()) + 1)
        size = torch.tensor(factor**2, dtype=torch.float64)
        return torch.polar(size, distance.double().cpu()[:, None] * theta)


ENCODING = Encoding(
    id="rope",
    name="RoPE",
    acts_on="queries and keys",
    paper=Paper(
        "Su et al.",
        2021,
        "RoFormer: Enhanced Transformer with Rotary Position Embedding",
        "https://arxiv.org/abs/2104.09864",
    ),
    latex=r"s_{ij} = \frac{1}{\sqrt{D}}\,\mathrm{Re}\sum_k q_i^{(k)}\,\overline{k_j^{(k)}}"
    r"\,e^{\mathrm{i}(i-j)\theta_k},\quad \theta_k = b^{-2k/D}",
    summary=mark(
        "Pairs of channels of queries and keys turn with position: scores ripple by distance."
    ),
    beyond=mark("Defined at any length; slow pairs reach angles that training never showed."),
    law=mark(
        "The kernel of the head's mean query and mean key: a sum of cosines at RoPE's frequencies."
    ),
    build=RoPE,
    parameters=(
        Parameter(
            "theta",
            10000.0,
            mark("The base b; wavelengths run from 2 pi to 2 pi x b."),
            2.0,
            1e12,
        ),
        Parameter("scaling", "none", mark("How frequencies are stretched."), choices=SCALINGS),
        Parameter(
            "factor",
            1.0,
            mark("The stretch s, usually evaluated / trained length."),
            1.0,
            1024.0,
        ),
        Parameter("layout", "half", mark("Which channels form a pair."), choices=LAYOUTS),
        Parameter(
            "rotary", 0, mark("How many channels of a head turn; 0 for all."), 0, 512, aside=True
        ),
    ),
)
