"""xPos: RoPE whose scores also shrink with distance, the fast pairs most (Sun et al. 2023)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from viz_core.encodings._contract import Encoding, Geometry, Paper, Parameter
from viz_core.encodings.rope import RoPE, rotate
from viz_core.errors import LengthError
from viz_core.words import mark, say

GAMMA = 0.4  # the paper's: how far the fastest pair's shrinking is from the slowest one's
ROOM = 1e10  # how far apart in size the first and last query may be: products of them keep digits


def shrinking(head_dim: int) -> Tensor:
    """zeta_k = (2k / D + gamma) / (1 + gamma), k = 0 .. D/2 - 1: [pair], float64, all below 1.

    Sun et al. 2023, with gamma = 0.4. A pair's part in a score shrinks to zeta_k of itself over
    `span` tokens of distance.
    """
    k = torch.arange(0, head_dim, 2, dtype=torch.float64)
    return (k / head_dim + GAMMA) / (1 + GAMMA)


class XPos(RoPE):
    """RoPE that also multiplies queries by zeta^(p / B) and keys by zeta^(-p / B), in each pair.

    Scores gain zeta^((i - j) / B). Queries shrink and keys grow without end, as positions are
    counted from 0: other codes count from the middle of the text, which gives the same scores but
    keys that change as the text grows.
    """

    def __init__(self, geometry: Geometry, theta: float = 10000.0, span: float = 512.0) -> None:
        super().__init__(geometry, theta)
        self.span = span

    @property
    def longest(self) -> int:
        """Past these positions the first query and the last differ in size by more than ROOM."""
        return math.floor(self.span * math.log(ROOM) / -math.log(shrinking(2)[0]))

    @property
    def limit(self) -> str:
        """Not training but the size of numbers ends it."""
        return say("the {longest:,} positions that floats hold", longest=self.longest)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """x as it is. Raises LengthError for positions whose queries and keys floats don't hold."""
        if positions.numel() and int(positions.max()) >= self.longest:
            raise LengthError(
                say(
                    "Floats hold xPos of span {span:g} for {longest} positions, and position "
                    "{position} was asked for; choose at most {longest} tokens, or train with a "
                    "larger span.",
                    span=self.span,
                    longest=self.longest,
                    position=int(positions.max()),
                ),
                self.longest,
            )
        return x

    def rotate(self, x: Tensor, positions: Tensor, seen: int) -> Tensor:
        """Queries [..., head, position, channel], turned and shrunk by their positions."""
        angle, _ = self._angle(positions, seen)
        return rotate(x, angle) * self._size(positions, x)

    def rotate_key(self, x: Tensor, positions: Tensor, seen: int) -> Tensor:
        """Keys [..., head, position, channel], turned and enlarged by their positions."""
        angle, _ = self._angle(positions, seen)
        return rotate(x, angle) * self._size(-positions, x)

    def unrotate(self, x: Tensor, positions: Tensor, seen: int) -> Tensor:
        """The inverse of `rotate`."""
        angle, _ = self._angle(positions, seen)
        return rotate(x * self._size(-positions, x), -angle)

    def unrotate_key(self, x: Tensor, positions: Tensor, seen: int) -> Tensor:
        """The inverse of `rotate_key`."""
        angle, _ = self._angle(positions, seen)
        return rotate(x * self._size(positions, x), -angle)

    def _size(self, positions: Tensor, like: Tensor) -> Tensor:
        """zeta^(p / B) of both channels of each pair, [position, channel]."""
        size = shrinking(self.geometry.head_dim) ** (positions.cpu().double()[:, None] / self.span)
        return torch.cat((size, size), dim=-1).to(like)

    def _waves(self, distance: Tensor) -> Tensor:
        """RoPE's waves, each smaller by zeta at every span: [distance, pair], complex."""
        size = shrinking(self.geometry.head_dim) ** (distance.cpu().double()[:, None] / self.span)
        return super()._waves(distance) * size


ENCODING = Encoding(
    id="xpos",
    name="xPos",
    acts_on="queries and keys",
    paper=Paper(
        "Sun et al.",
        2023,
        "A Length-Extrapolatable Transformer",
        "https://arxiv.org/abs/2212.10554",
    ),
    latex=r"s_{ij} = \frac{1}{\sqrt{D}}\,\mathrm{Re}\sum_k q_i^{(k)}\,\overline{k_j^{(k)}}"
    r"\,\zeta_k^{(i-j)/B}\,e^{\mathrm{i}(i-j)\theta_k},\quad "
    r"\zeta_k = \frac{2k/D + 0.4}{1.4},\quad \theta_k = b^{-2k/D}",
    summary=mark("RoPE whose ripples die out with distance, the fast ones first."),
    beyond=mark(
        "The score is defined at any distance; queries shrink and keys grow with position, and "
        "past 18 B tokens floats hold them no longer: undefined here."
    ),
    law=mark("The kernel of the head's mean query and mean key: RoPE's cosines, each damped."),
    build=XPos,
    parameters=(
        Parameter(
            "theta",
            10000.0,
            mark("The base b; wavelengths run from 2 pi to 2 pi x b."),
            2.0,
            1e9,
        ),
        Parameter(
            "span",
            512.0,
            mark("The span B: over so many tokens a pair's part in a score shrinks to zeta of it."),
            32.0,
            65536.0,
        ),
    ),
)
