"""What the tests of attribution share: small models, one with a known answer, a dense pass."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core.encodings import Value
from viz_core.model import ModelConfig, Transformer

LAYERS, HEADS, WIDTH, VOCABULARY, TRAINED = 2, 2, 16, 24, 32
Mixer = Callable[[int, Tensor, Tensor], Tensor]
Made = Callable[..., Transformer]
Copier = tuple[Transformer, list[int]]


@pytest.fixture
def small() -> Made:
    """A random model of an encoding, sharp enough for attention that differs from row to row."""

    def make(encoding: str, trained: int = TRAINED, **parameters: Value) -> Transformer:
        torch.manual_seed(0)
        config = ModelConfig(
            encoding, LAYERS, HEADS, WIDTH, VOCABULARY, trained, 2, parameters=parameters
        )
        made = Transformer(config).eval().requires_grad_(False)
        made.embedding.weight *= 20
        return made

    return make


@pytest.fixture
def drawn() -> Callable[[int, int], list[int]]:
    """Random token ids: so many, by seed."""

    def draw(count: int, seed: int = 1) -> list[int]:
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(VOCABULARY, (count,), generator=generator).tolist()

    return draw


@pytest.fixture
def copier() -> Copier:
    """A model of which head 2 of layer 2 alone does anything: it copies from distance 7.

    The bias of T5 says where it looks, whatever the content. Layer 1 adds a constant: of a vector
    that stands alone, RMSNorm leaves no slope along it, and a gradient would see nothing. With it,
    a text of period 8: what follows a query stands 7 tokens before it.
    """
    torch.manual_seed(0)
    made = Transformer(ModelConfig("t5", 2, 2, 16, 8, 64, 1)).eval().requires_grad_(False)
    for name, weight in made.named_parameters():
        if "norm" not in name:
            weight.zero_()
    made.encoding.table.weight[7, 1] = 40.0  # [bucket, head]; up to 16 a bucket is a distance
    made.embedding.weight[:, :8] = torch.eye(8)
    made.blocks[0].up.weight[0, :8] = 1.0
    made.blocks[0].down.weight[8, 0] = 2.0
    made.blocks[1].qkv.weight[40:48, :8] = torch.eye(8)  # the values of head 2
    made.blocks[1].out.weight[:8, 8:] = 8 * torch.eye(8)
    return made, [3, 1, 6, 0, 7, 4, 2, 5] * 8 + [3]


@pytest.fixture
def dense() -> Callable[..., Tensor]:
    """A pass over token vectors [n, w] in float64, every map whole: logits [n, vocabulary].

    `mixer(layer, a, v)` is what attention does with the pattern a [h, n, n] and v [h, n, c].
    """

    def forward(
        made: Transformer, vectors: Tensor, mixer: Mixer = lambda layer, a, v: a @ v
    ) -> Tensor:
        made, config = copy.deepcopy(made).double(), made.config
        n, at = len(vectors), torch.arange(len(vectors))
        distance = at[:, None] - at
        x = made.encoding.embed(vectors.double(), at)
        for layer, block in enumerate(made.blocks):
            qkv = (block.norm1(x) @ block.qkv.weight.T).view(n, 3, config.heads, -1)
            q, k, v = (qkv[:, i].transpose(0, 1) for i in range(3))
            q, k = made.encoding.rotate(q, at, n), made.encoding.rotate_key(k, at, n)
            logits = q @ k.transpose(-1, -2) / (config.width // config.heads) ** 0.5
            bias = made.encoding.bias(distance.clamp(min=0))
            logits = logits if bias is None else logits + bias
            a = logits.masked_fill(distance < 0, float("-inf")).softmax(-1)
            mixed = mixer(layer, a, v).transpose(0, 1).reshape(n, -1)
            x = x + mixed @ block.out.weight.T
            x = x + F.gelu(block.norm2(x) @ block.up.weight.T) @ block.down.weight.T
        return made.norm(x) @ made.embedding.weight.T

    return forward
