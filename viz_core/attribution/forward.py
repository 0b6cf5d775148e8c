"""The model's forward pass taken apart, so that what attention does can be looked at or replaced.

With nothing replaced it is `Transformer.forward`; a test holds the two together. It begins at the
token vectors instead of the ids, because that is where gradients end: no module is hooked, and any
number of threads may share one model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core import encodings, kernels
from viz_core.model import Block, Transformer

Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""(layer, q, k, v), each [b, h, n, c], to what is mixed of the values, in the same shape."""


@dataclass(frozen=True)
class Forward:
    """`model` on inputs of `length` tokens, in memory linear in the length, as the model itself.

    Shapes: b batch, n position, w width, h head, c channel of a head.
    """

    model: Transformer
    length: int

    @cached_property
    def positions(self) -> Tensor:
        """[n], on the model's device."""
        return encodings.arange(0, self.length, self.model.embedding.weight)

    @cached_property
    def strip(self) -> Tensor | None:
        """Bias and causal mask by distance (`kernels.band`); None for encodings without a bias."""
        if self.model.encoding.bias(self.positions[:1]) is None:
            return None
        return self.band

    @cached_property
    def band(self) -> Tensor:
        """`strip`, of zeros and the causal mask for encodings without a bias."""
        return kernels.band(self.model.encoding, self.length, self.model.embedding.weight).detach()

    def vectors(self, ids: Sequence[int]) -> Tensor:
        """Token vectors as they enter, before any position is added: [1, n, w]."""
        weight = self.model.embedding.weight.detach()
        chosen = weight[torch.tensor([list(ids)], device=weight.device)]
        return chosen * math.sqrt(self.model.config.width)

    def placed(self, vectors: Tensor) -> Tensor:
        """The stream that enters the first layer: `vectors` [b, n, w] with position added."""
        return self.model.encoding.embed(vectors, self.positions)

    def project(self, layer: int, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k after the encoding, and v, of a stream x [b, n, w]: each [b, h, n, c]."""
        block, encoding = self._block(layer), self.model.encoding
        qkv = block.qkv(block.norm1(x)).unflatten(-1, (3, block.heads, -1))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        q = encoding.rotate(q, self.positions, self.length)
        return q, encoding.rotate_key(k, self.positions, self.length), v

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """The model's own attention, as an `Attend`."""
        return kernels.fused(q, k, v, self.strip, self.model.config.scale)

    def close(self, layer: int, x: Tensor, mixed: Tensor) -> Tensor:
        """The rest of a layer, given its attention's output [b, h, n, c]: stream to stream."""
        block = self._block(layer)
        x = x + block.out(mixed.transpose(1, 2).flatten(2))
        x = x + block.down(F.gelu(block.up(block.norm2(x))))
        return x

    def finish(self, x: Tensor, first: int = 0, attend: Attend | None = None) -> Tensor:
        """The normalised stream [b, n, w] at the end, from the stream x that enters layer `first`.

        `attend` takes the place of the model's own attention.
        """
        for layer in range(first, self.model.config.layers):
            x = self.close(layer, x, (attend or self.attend)(layer, *self.project(layer, x)))
        end: Tensor = self.model.norm(x)
        return end

    def _block(self, layer: int) -> Block:
        block = self.model.blocks[layer]
        assert isinstance(block, Block)
        return block
