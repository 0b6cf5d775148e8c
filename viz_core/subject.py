"""What the atlas needs of a model, whoever made it: its sizes, one pass, and losses.

The core knows models by `Subject` alone. Our own `model.Transformer` is one; the readers make
others out of other people's files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from viz_core import kernels
from viz_core.encodings import Geometry, PositionEncoding
from viz_core.kernels import Step


class Sizes(Protocol):
    """The sizes of a model, and which encoding it has with which parameters."""

    @property
    def encoding(self) -> str:
        """The encoding's id."""

    @property
    def parameters(self) -> Mapping[str, int | float | str]:
        """The encoding's parameters."""

    @property
    def layers(self) -> int:
        """Number of layers."""

    @property
    def heads(self) -> int:
        """Query heads of a layer."""

    @property
    def kv_heads(self) -> int:
        """Key heads of a layer; each serves heads / kv_heads query heads that follow each other."""

    @property
    def head_dim(self) -> int:
        """Channels of a head."""

    @property
    def width(self) -> int:
        """Channels of the stream."""

    @property
    def vocabulary(self) -> int:
        """Token ids there are; 0 for a model without an embedding."""

    @property
    def length(self) -> int:
        """The trained length in tokens, or the one that the model declares; 0 where unknown."""

    @property
    def causal(self) -> bool:
        """Whether a query sees no later key."""

    @property
    def geometry(self) -> Geometry:
        """What an encoding needs to know of these sizes."""


@dataclass(frozen=True)
class Scores:
    """How one layer's logits come of q and k: cap tanh(scale q . k / cap) + strip[i - j].

    `strip` is a `kernels.band`: bias, causal mask and window by distance, [head or 1, 2 N - 1].
    `window`: distances 0 .. window - 1 are seen, None for all. Without `cap`, scale q . k alone.
    """

    encoding: PositionEncoding
    scale: float
    strip: Tensor
    window: int | None = None
    causal: bool = True
    cap: float | None = None

    def reach(self, keys: int) -> int:
        """How many distances, from 0 on, have a pair among `keys` positions."""
        return keys if self.window is None else min(self.window, keys)


def scores(
    encoding: PositionEncoding,
    scale: float,
    count: int,
    like: Tensor,
    window: int | None = None,
    causal: bool = True,
    cap: float | None = None,
) -> Scores:
    """The Scores of a layer over `count` positions, its strip in the dtype of `like`."""
    strip = kernels.band(encoding, count, like, window, causal).detach()
    return Scores(encoding, scale, strip, window, causal, cap)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scores: Scores,
    step: Step = kernels.ignore,
    sink: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One layer's attention, nothing of size N x N: (mixed values, lse [1, head, query]).

    q [1, head, position, channel]; k, v [1, key head, position, channel]; as many positions in
    all. `sink` [head] is a logit that takes part in each row's sum, and no key has.
    """
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
    bare = scores.causal and scores.window is None and not scores.strip[..., : q.shape[2]].any()
    mixed, lse = kernels.fused_with_lse(
        q,
        k,
        v,
        None if bare else scores.strip.to(q),
        scores.scale,
        step,
        scores.window,
        scores.causal,
        scores.cap,
    )
    if sink is not None:
        total = torch.logaddexp(lse, sink.to(lse)[None, :, None])
        mixed, lse = mixed * (lse - total).exp()[..., None].to(mixed), total
    return mixed, lse


class LayerTrace(NamedTuple):
    """q [head, position, channel] and k [key head, position, channel] after the encoding.

    lse [head, query] is the natural log of what each query's row is divided by; an attention sink
    of the model (a logit that no key has) counts in it.
    """

    q: Tensor
    k: Tensor
    lse: Tensor


class Subject(Protocol):
    """A model, ready to evaluate. All of it lies on one device."""

    @property
    def config(self) -> Sizes:
        """Sizes and encoding."""

    @property
    def encoding(self) -> PositionEncoding:
        """The encoding of its layers; where they differ, that of most of them."""

    @property
    def device(self) -> torch.device:
        """Where its weights lie."""

    @property
    def bytes_per_token(self) -> int:
        """An upper estimate of what tracing one more token costs at the peak."""

    def passes(
        self, ids: Tensor, step: Step, offset: int = 0
    ) -> Iterator[tuple[LayerTrace, Scores]]:
        """What each layer computes of `ids` [position], one after the other, linear in memory.

        The first token stands at position `offset`; `step` hears of the pairs that are done, and
        may raise, to cancel.
        """

    def stream(self, tokens: Tensor) -> Tensor:
        """tokens [sequence, position] to what logits are made of [sequence, position, width]."""

    def logits(self, stream: Tensor) -> Tensor:
        """stream [..., width] to the logits of the next token [..., vocabulary]."""
