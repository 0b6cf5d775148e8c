"""A small causal Transformer in which the position encoding is the only thing that changes.

Pre-norm blocks (RMSNorm, attention, RMSNorm, GELU MLP), no biases, tied embeddings.
Token vectors are scaled by sqrt(width) (Vaswani et al. 2017), so that absolute encodings meet
them at the same size. Shapes: b batch, n position, w width, h head, c channel of a head.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from viz_core import encodings, kernels
from viz_core.encodings import Geometry, PositionEncoding
from viz_core.errors import UsageError
from viz_core.kernels import Step
from viz_core.subject import LayerTrace, Scores, Subject, scores
from viz_core.words import say


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and encoding of one model. `length` is the trained length in tokens."""

    encoding: str
    layers: int
    heads: int
    width: int
    vocabulary: int
    length: int
    mlp: int = 4  # hidden width of the MLP, in widths
    parameters: dict[str, encodings.Value] = field(default_factory=dict)

    @property
    def head_dim(self) -> int:
        """Channels of a head."""
        return self.width // self.heads

    @property
    def kv_heads(self) -> int:
        """Key heads: one for each query head."""
        return self.heads

    @property
    def causal(self) -> bool:
        """A query sees no later key."""
        return True

    @property
    def geometry(self) -> Geometry:
        """What an encoding needs to know of these sizes."""
        return Geometry(self.heads, self.head_dim, self.width, self.length)

    @property
    def scale(self) -> float:
        """What dot products are multiplied by: 1 / sqrt(channels of a head)."""
        return float(self.head_dim**-0.5)


def ours(model: Subject, what: str) -> Transformer:
    """`model` if it is a Transformer of this project; UsageError, naming `what` needs one, if not.

    What changes the inside of a model is written for ours alone. `what` is marked, or said already.
    """
    if isinstance(model, Transformer):
        return model
    raise UsageError(
        say(
            "Expected a checkpoint of this project's own format for {what}; this one can be "
            "mapped, measured and scored as it is.",
            what=say(what),
        )
    )


class Layer(NamedTuple):
    """What attention computed in one layer: q, k after the encoding, v, each [b, h, n, c].

    `lse` [b, h, n] is the log-normaliser of each query's row; None unless a trace was asked for.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    lse: Tensor | None


class Output(NamedTuple):
    """The normalised stream [b, n, w], logits [b, n, vocabulary], what each layer computed."""

    stream: Tensor
    logits: Tensor
    layers: tuple[Layer, ...]


class Block(nn.Module):
    """One layer: attention and MLP, each on the normalised stream and added back to it."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        w = config.width
        self.heads, self.scale = config.heads, config.scale
        self.norm1, self.norm2 = nn.RMSNorm(w), nn.RMSNorm(w)
        self.qkv = nn.Linear(w, 3 * w, bias=False)
        self.out = nn.Linear(w, w, bias=False)
        self.up = nn.Linear(w, config.mlp * w, bias=False)
        self.down = nn.Linear(config.mlp * w, w, bias=False)

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        encoding: PositionEncoding,
        past: Layer | None,
        strip: Tensor | None,
        trace: bool,
        step: Step,
    ) -> tuple[Tensor, Layer]:
        """x [b, n, w] to the same shape; `strip` is the band of bias and mask, if one is needed."""
        qkv = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1))  # [b, n, 3, h, c]
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each [b, h, n, c]
        seen = int(x.shape[1]) if past is None else int(x.shape[1]) + past.k.shape[2]
        q, k = encoding.rotate(q, positions, seen), encoding.rotate_key(k, positions, seen)
        if past is not None:
            k, v = torch.cat((past.k, k), dim=2), torch.cat((past.v, v), dim=2)
        lse = None
        if trace:
            mixed, lse = kernels.fused_with_lse(q, k, v, strip, self.scale, step)
        else:
            mixed = kernels.fused(q, k, v, strip, self.scale)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))  # [b, n, h * c] back to [b, n, w]
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        return x, Layer(q, k, v, lse)


class Transformer(nn.Module):
    """The model; build it after `torch.manual_seed` and all encodings start from equal weights."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.RMSNorm(config.width)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                std = 0.02 if name == "embedding.weight" else weight.shape[1] ** -0.5
                nn.init.normal_(weight, std=std)
                if name.endswith(
                    ("out.weight", "down.weight")
                ):  # keep the stream's size with depth
                    weight.data /= (2 * config.layers) ** 0.5
        # last, so that its own random numbers don't shift those of the shared weights
        self.encoding = encodings.get(config.encoding).make(config.geometry, config.parameters)

    @property
    def device(self) -> torch.device:
        """Where its weights lie."""
        return self.embedding.weight.device

    @property
    def bytes_per_token(self) -> int:
        """An upper estimate of what tracing one more token costs at the peak (float32).

        Kept q, k, v of each layer, plus the widest moment within a block: stream, its normalised
        copy, q, k, v with their rotated copies, and the MLP's hidden vectors before and after GELU.
        """
        c = self.config
        return 4 * c.width * (3 * c.layers + 10 + 2 * c.mlp)

    def passes(
        self, ids: Tensor, step: Step, offset: int = 0
    ) -> Iterator[tuple[LayerTrace, Scores]]:
        """What each layer computes of `ids` [position]; see `subject.Subject`."""
        how = None
        for _, layer in self.each_layer(ids[None], None, True, step, offset):
            assert layer.lse is not None
            # copies, where these are views of the product that holds v too
            kept = LayerTrace(layer.q[0].contiguous(), layer.k[0].contiguous(), layer.lse[0])
            del layer
            how = how or scores(self.encoding, self.config.scale, len(ids), kept.q)
            yield kept, how

    def stream(self, tokens: Tensor) -> Tensor:
        """tokens [b, n] to the normalised stream [b, n, w], without logits."""
        stream: Tensor = self(tokens, head=False, keep=False).stream
        return stream

    def logits(self, stream: Tensor) -> Tensor:
        """stream [..., w] to logits [..., vocabulary]."""
        return stream @ self.embedding.weight.T

    def forward(
        self,
        tokens: Tensor,
        past: tuple[Layer, ...] | None = None,
        trace: bool = False,
        head: bool = True,
        keep: bool = True,
    ) -> Output:
        """tokens [b, n] to logits [b, n, vocabulary] and each layer's q, k, v (and lse).

        `past` is the `layers` of an earlier call, whose positions these tokens follow. `trace`
        fills lse. Without `head` the logits are left empty: at long n they are the largest thing
        here, and a trace needs none. Without `keep`, `layers` are left out. Memory is linear in n.
        """
        layers = []
        for stream, layer in self.each_layer(tokens, past, trace):
            x = stream
            if keep:
                layers.append(layer)
            del layer
        x = self.norm(x)
        logits = self.logits(x) if head else x.new_empty(*x.shape[:2], 0)
        return Output(x, logits, tuple(layers))

    def each_layer(
        self,
        tokens: Tensor,
        past: tuple[Layer, ...] | None = None,
        trace: bool = False,
        step: Step = kernels.ignore,
        offset: int = 0,
    ) -> Iterator[tuple[Tensor, Layer]]:
        """(the stream after it [b, n, w], what it computed) of one layer after the other.

        The first token stands at position `offset`, or that much after `past`. What the caller
        doesn't keep is gone before the next layer begins. With `trace`, `step` hears of the work
        within a layer too, as `kernels.fused_with_lse` says.
        """
        start = 0 if past is None else past[0].k.shape[2]
        count = start + tokens.shape[1]
        positions = encodings.arange(start + offset, tokens.shape[1], tokens)
        x = self.embedding(tokens) * self.config.width**0.5
        x = self.encoding.embed(x, positions)
        strip = None
        if past is not None or self.encoding.bias(positions[:1]) is not None:
            strip = kernels.band(self.encoding, count, x)
        for i, block in enumerate(self.blocks):
            before = None if past is None else past[i]
            x, layer = block(x, positions, self.encoding, before, strip, trace, step)
            yield x, layer
            del layer
