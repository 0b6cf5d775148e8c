"""Learned absolute positions: one trained vector for each position up to the trained length."""

from __future__ import annotations

from torch import Tensor, nn

from viz_core.encodings._contract import Encoding, Geometry, Paper, PositionEncoding
from viz_core.errors import LengthError
from viz_core.words import mark, say


class Learned(PositionEncoding):
    """A table [position, width]; past its end there is no value, and none is made up."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__(geometry)
        self.table = nn.Embedding(geometry.length, geometry.width)
        nn.init.normal_(self.table.weight, std=0.02)  # as the token table

    @property
    def longest(self) -> int:
        """The table's length."""
        return int(self.table.num_embeddings)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """x plus sqrt(width) x table[positions]: the scale that token vectors get too.

        Raises LengthError for a position past the table, where no value exists.
        """
        if positions.numel() and int(positions.max()) >= self.longest:
            raise LengthError(
                say(
                    "Learned positions end at {longest} tokens, and position {position} was asked "
                    "for; choose at most {longest} tokens.",
                    longest=self.longest,
                    position=int(positions.max()),
                ),
                largest=self.longest,
            )
        added: Tensor = self.table(positions) * self.geometry.width**0.5
        return x + added

    def law(self, distance: Tensor, query: Tensor, key: Tensor, scale: float) -> None:
        """None: a table of free vectors has no curve by distance."""
        return None


ENCODING = Encoding(
    id="learned",
    name="Learned",
    acts_on="embeddings",
    paper=Paper(
        "Gehring et al.",
        2017,
        "Convolutional Sequence to Sequence Learning",
        "https://arxiv.org/abs/1705.03122",
    ),
    latex=r"x_p \leftarrow x_p + E_p,\quad 0 \leq p < L",
    summary=mark(
        "A trained vector per position is added to the token vectors, once, at the bottom."
    ),
    beyond=mark("Undefined: the table ends at the trained length."),
    law=mark("None: a table of free vectors has no curve by distance."),
    build=Learned,
)
