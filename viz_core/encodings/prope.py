"""p-RoPE: RoPE whose slowest pairs don't turn (Barbero et al. 2024, section 6.1)."""

from __future__ import annotations

from torch import Tensor

from viz_core.encodings._contract import Encoding, Geometry, Paper, Parameter
from viz_core.encodings._scalings import frequencies
from viz_core.encodings.rope import RoPE
from viz_core.errors import UsageError
from viz_core.words import mark, say


class PRoPE(RoPE):
    """RoPE with the highest frequencies alone: int(p D / 2) pairs turn, the others stand still.

    Partial rotary spreads all of RoPE's frequencies over fewer pairs; this keeps the fast ones of
    all D channels and leaves out the rest. The turning channels come first here. transformers'
    "proportional" kind has pairs k and k + D / 2 among all D: the same but for their order.
    """

    def __init__(self, geometry: Geometry, share: float = 0.75, theta: float = 10000.0) -> None:
        if geometry.head_dim % 2:
            raise UsageError(
                say("Expected an even head width for p-RoPE; got {width}.", width=geometry.head_dim)
            )
        super().__init__(geometry, theta)
        self.rotary = 2 * int(share * geometry.head_dim // 2)

    def plain(self, theta: float) -> Tensor:
        """Those of the full head's frequencies that turn, at base `theta`: [pair], float64."""
        return frequencies(self.geometry.head_dim, theta)[0][: self.rotary // 2]

    def frequencies(self, seen: int) -> tuple[Tensor, float]:
        """(radians per token of the pairs that turn [pair], 1), at any length."""
        return self.plain(self.theta), 1.0


ENCODING = Encoding(
    id="prope",
    name="p-RoPE",
    acts_on="queries and keys",
    paper=Paper(
        "Barbero et al.",
        2024,
        "Round and Round We Go! What makes Rotary Positional Encodings useful?",
        "https://arxiv.org/abs/2410.06205",
    ),
    latex=r"s_{ij} = \frac{1}{\sqrt{D}}\,\mathrm{Re}\sum_k q_i^{(k)}\,\overline{k_j^{(k)}}"
    r"\,e^{\mathrm{i}(i-j)\theta_k},\quad \theta_k = b^{-2k/D}\ \mathrm{for}\ k < pD/2"
    r",\ \mathrm{else}\ 0",
    summary=mark(
        "Only the fast pairs of channels turn with position; the slow ones carry content."
    ),
    beyond=mark("Defined at any length; the slow angles that training never showed are left out."),
    law=mark(
        "The kernel of the head's mean query and mean key: cosines of the pairs that turn, and a "
        "constant of those that don't."
    ),
    build=PRoPE,
    parameters=(
        Parameter(
            "share", 0.75, mark("The share p of the pairs that turn, fastest first."), 0.0, 1.0
        ),
        Parameter(
            "theta",
            10000.0,
            mark("The base b; wavelengths run from 2 pi to 2 pi x b^p."),
            2.0,
            1e9,
        ),
    ),
)
