"""Layers of attention put together as a plan says: the model of a script's state dict.

Shapes: b batch, n position, w width, h head, c channel of a head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from viz_core import encodings, kernels
from viz_core.encodings import PositionEncoding
from viz_core.errors import UsageError
from viz_core.kernels import Step
from viz_core.readers.script.plan import Plan
from viz_core.subject import LayerTrace, Scores, attend, scores
from viz_core.words import say

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
    "silu": F.silu,
}


class Layer(nn.Module):
    """Attention, and an MLP if there is one, with a norm before or after each."""

    q: nn.Linear
    k: nn.Linear
    v: nn.Linear
    out: nn.Linear
    gate: nn.Linear  # of these, there are those that `parts` names
    up: nn.Linear
    down: nn.Linear

    def __init__(self, plan: Plan, parts: frozenset[str]) -> None:
        super().__init__()
        self.plan, s = plan, plan.sizes
        self.norm1, self.norm2 = (_norm(plan, parts, name) for name in ("norm1", "norm2"))
        inner, keys = s.heads * s.head_dim, s.kv_heads * s.head_dim
        sizes = {"q": (s.width, inner), "k": (s.width, keys), "v": (s.width, keys)}
        sizes |= {"out": (inner, s.width), "gate": (s.width, plan.hidden)}
        sizes |= {"up": (s.width, plan.hidden), "down": (plan.hidden, s.width)}
        for name, (ins, outs) in sizes.items():
            if f"{name}.weight" in parts:
                self.add_module(name, nn.Linear(ins, outs, bias=f"{name}.bias" in parts))

    def forward(
        self, x: Tensor, positions: Tensor, how: Scores, step: Step
    ) -> tuple[Tensor, LayerTrace]:
        """x [b, n, w] to the same shape, and what attention computed of the first sequence."""
        before = self.plan.norms == "before"
        mixed, trace = self._attention(self.norm1(x) if before else x, positions, how, step)
        x = x + mixed if self.plan.residual else mixed
        x = x if before else self.norm1(x)
        if self.plan.hidden:
            x = x + self._mlp(self.norm2(x) if before else x)
            x = x if before else self.norm2(x)
        return x, trace

    def _attention(
        self, x: Tensor, positions: Tensor, how: Scores, step: Step
    ) -> tuple[Tensor, LayerTrace]:
        seen = x.shape[1]
        q, k, v = (
            project(x).unflatten(-1, (-1, self.plan.sizes.head_dim)).transpose(1, 2)
            for project in (self.q, self.k, self.v)
        )  # each [b, h, n, c]
        q = how.encoding.rotate(q, positions, seen)
        k = how.encoding.rotate_key(k, positions, seen)
        mixed, lse = attend(q, k, v, how, step)
        trace = LayerTrace(q[0].contiguous(), k[0].contiguous(), lse[0])
        return self.out(mixed.transpose(1, 2).flatten(2)), trace

    def _mlp(self, x: Tensor) -> Tensor:
        act = _ACTIVATIONS[self.plan.activation]
        hidden = act(self.gate(x)) * self.up(x) if "gate" in self._modules else act(self.up(x))
        return self.down(hidden)  # type: ignore[no-any-return]


class Stack(nn.Module):
    """A `subject.Subject` out of a script's weights, with a norm before the layers and after them.

    `weights` by part, as `weights.read` gives them; `each` is the encoding of each layer, the
    same object where they share one.
    """

    encoding: PositionEncoding

    def __init__(
        self, plan: Plan, weights: Mapping[str, Tensor], each: Sequence[PositionEncoding]
    ) -> None:
        super().__init__()
        self.plan, self.config, s = plan, plan.sizes, plan.sizes
        first = "layers.0."
        parts = frozenset(name.removeprefix(first) for name in weights if name.startswith(first))
        with torch.device("meta"):  # sizes alone; the weights themselves are laid in below
            self.layers = nn.ModuleList(Layer(plan, parts) for _ in range(s.layers))
            self.norm0, self.norm = (
                _norm(plan, frozenset(weights), name) for name in ("norm0", "norm")
            )
            self.embedding = nn.Embedding(s.vocabulary, s.width) if s.vocabulary else None
            self.head = None
            if "head.weight" in weights:
                self.head = nn.Linear(s.width, s.vocabulary, bias="head.bias" in weights)
        self.load_state_dict(dict(weights), assign=True)
        self.encoding, self.each = each[0], tuple(each)
        self._held = nn.ModuleList(each)  # so that they move with the model

    @property
    def device(self) -> torch.device:
        """Where its weights lie."""
        return next(self.layers.parameters()).device

    @property
    def bytes_per_token(self) -> int:
        """An upper estimate of what tracing one more token costs at the peak (float32).

        Kept q and k of each layer, plus the widest moment within one: stream, its normalised copy,
        q, k, v with their rotated and repeated copies, RoPE's angles, the MLP's hidden vectors
        twice (three times with a gate).
        """
        s = self.config
        inner, keys = s.heads * s.head_dim, s.kv_heads * s.head_dim
        kept = s.layers * (inner + keys + 2 * s.heads)
        widest = 4 * s.width + 6 * inner + 3 * keys + 4 * s.head_dim + 3 * self.plan.hidden
        return 4 * (kept + widest)

    def passes(
        self, ids: Tensor, step: Step, offset: int = 0
    ) -> Iterator[tuple[LayerTrace, Scores]]:
        """What each layer computes of `ids` [position]; see `subject.Subject`."""
        for _, trace, how in self._run(ids[None], step, offset):
            yield trace, how

    def stream(self, tokens: Tensor) -> Tensor:
        """tokens [b, n] to the last stream, normalised if there is a norm at the end [b, n, w]."""
        for x, trace, _ in self._run(tokens, kernels.ignore, 0):
            stream = x
            del trace
        normed: Tensor = self.norm(stream)
        return normed

    def logits(self, stream: Tensor) -> Tensor:
        """stream [..., w] to logits [..., vocabulary]. Raises UsageError without such a head."""
        if not self.config.causal:
            raise UsageError(
                say(
                    "Expected a model that predicts the next token; this one sees all tokens at "
                    "once, so look at its attention alone."
                )
            )
        if self.head is not None:
            logits: Tensor = self.head(stream)
            return logits
        if self.embedding is None or not self.plan.tied:
            raise UsageError(
                say(
                    "Expected a language-model head; this checkpoint has none, so look at its "
                    "attention alone."
                )
            )
        return stream @ self.embedding.weight.T

    def _run(
        self, tokens: Tensor, step: Step, offset: int
    ) -> Iterator[tuple[Tensor, LayerTrace, Scores]]:
        """(the stream after it, what it computed, how) of one layer after the other."""
        count = tokens.shape[1]
        positions = encodings.arange(offset, count, tokens)
        x = self.norm0(self.encoding.embed(self._vectors(tokens), positions))
        made = dict[tuple[PositionEncoding, int | None], Scores]()
        windows = self.plan.windows or (None,) * len(self.each)
        for layer, key in zip(self.layers, zip(self.each, windows, strict=True), strict=True):
            if key not in made:
                made[key] = self._scores(*key, count, x)
            x, trace = layer(x, positions, made[key], step)
            yield x, trace, made[key]
            del trace

    def _scores(
        self, encoding: PositionEncoding, window: int | None, count: int, like: Tensor
    ) -> Scores:
        window = None if window is None or window >= count else window
        return scores(encoding, self.plan.scale, count, like, window, self.config.causal)

    def _vectors(self, tokens: Tensor) -> Tensor:
        """Token vectors [b, n, w]; without an embedding, a normal vector of each id's own."""
        if self.embedding is None:
            return _random(tokens, self.config.width)
        if tokens.numel() and int(tokens.max()) >= self.config.vocabulary:
            raise UsageError(
                say(
                    "Expected token ids below {most:,}, the checkpoint's vocabulary; got {id:,}, "
                    "so use the tokenizer it was trained with.",
                    most=self.config.vocabulary,
                    id=int(tokens.max()),
                )
            )
        found: Tensor = self.embedding(tokens) * self.plan.embedding_scale
        return found


def _random(tokens: Tensor, width: int) -> Tensor:
    """For each id the same standard normal vector, on every device and in every text."""
    ids, where = tokens.cpu().unique(return_inverse=True)
    rows = [
        torch.randn(width, generator=torch.Generator().manual_seed(int(i))) for i in ids.tolist()
    ]
    return torch.stack(rows)[where].to(tokens.device)


def _norm(plan: Plan, parts: frozenset[str], name: str) -> nn.Module:
    if f"{name}.weight" not in parts:
        return nn.Identity()
    if plan.norm == "rms":
        return nn.RMSNorm(plan.sizes.width, plan.epsilon)
    return nn.LayerNorm(plan.sizes.width, plan.epsilon, bias=f"{name}.bias" in parts)
