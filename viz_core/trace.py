"""What one forward pass leaves behind: from it every number of the N x N map is a dot product away.

log A[h, i, j] = c(scale q[h, i] . k[h, j]) + bias(h, i - j) - lse[h, i]

where c is the model's soft-cap, if it has one, and query heads may share a key head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from viz_core import devices, kernels
from viz_core.encodings import PositionEncoding
from viz_core.errors import LengthError, TextError
from viz_core.progress import Progress, ignore
from viz_core.subject import LayerTrace, Scores, Subject, scores
from viz_core.words import say

SHORTEST = 2  # tokens: with one there is nothing to compare


@dataclass(frozen=True)
class Trace:
    """One text's pass through one model: layers, and how each makes logits of its q and k."""

    layers: tuple[LayerTrace, ...]
    scores: tuple[Scores, ...]

    @classmethod
    def alike(cls, layers: Sequence[LayerTrace], encoding: PositionEncoding, scale: float) -> Trace:
        """A causal trace whose layers all have the same `encoding` and `scale`."""
        first = layers[0].q
        shared = scores(encoding, scale, first.shape[1], first)
        return cls(tuple(layers), (shared,) * len(layers))

    @property
    def length(self) -> int:
        """Number of tokens, N."""
        return self.layers[0].q.shape[1]

    @property
    def heads(self) -> int:
        """Query heads of a layer."""
        return self.layers[0].q.shape[0]

    @property
    def bytes(self) -> int:
        """Memory that q, k and lse take."""
        return sum(t.nbytes for layer in self.layers for t in layer)

    def take(self, layer: int, heads: slice | Sequence[int] = slice(None)) -> LayerTrace:
        """q, k, lse of `heads`; k [head, position, channel] has each query head's own key head."""
        q, k, lse = self.layers[layer]
        if isinstance(heads, slice) and len(k) == len(q):
            return LayerTrace(q[heads], k[heads], lse[heads])
        chosen = list(range(len(q))[heads]) if isinstance(heads, slice) else list(heads)
        return LayerTrace(q[chosen], k[[h * len(k) // len(q) for h in chosen]], lse[chosen])

    def strip(self, layer: int, heads: slice | Sequence[int] = slice(None)) -> Tensor:
        """Bias and mask by distance (`kernels.band`) of `heads`; one row where all share it."""
        strip = self.scores[layer].strip
        if len(strip) == 1:
            return strip
        return strip[heads] if isinstance(heads, slice) else strip[list(heads)]

    def logits(self, layer: int, dot: Tensor) -> Tensor:
        """Products `dot` of q and k as they enter the logits, scaled and capped, without bias."""
        s = self.scores[layer]
        scaled = s.scale * dot
        return scaled if s.cap is None else s.cap * (scaled / s.cap).tanh()

    def log_attention(
        self, layer: int, rows: tuple[int, int], columns: tuple[int, int], heads: slice
    ) -> Tensor:
        """log A at queries rows[0]:rows[1], keys columns[0]:columns[1]: [head, query, key].

        Exact, in nats; -inf where the query doesn't see the key. The block is held whole.
        """
        q, k, lse = self.take(layer, heads)
        (a, b), (c, d) = rows, columns
        logits = self.logits(layer, q[:, a:b] @ k[:, c:d].transpose(-1, -2))
        return logits + kernels.cut(self.strip(layer, heads), rows, columns) - lse[:, a:b, None]


@torch.no_grad()
def trace(
    model: Subject, ids: Sequence[int], progress: Progress = ignore, offset: int = 0
) -> Trace:
    """Runs `ids` through `model` (on the model's device) in memory linear in their number.

    The first token stands at position `offset`. `progress` is called within each layer too, and
    may raise, to cancel. Raises TextError for fewer than 2 tokens, LengthError where the encoding
    has no value or the estimate exceeds the memory at hand; the largest length that fits is then
    in the error.
    """
    n = len(ids)
    if n < SHORTEST:
        raise TextError(
            say(
                "Expected at least {least} tokens; got {length}. Give a longer text.",
                least=SHORTEST,
                length=n,
            )
        )
    check_length(model, n, offset)
    pairs = kernels.pairs(n, n) if model.config.causal else n * n
    done, total = 0, model.config.layers * pairs

    def step(pairs: int) -> None:
        nonlocal done
        done += pairs
        progress(min(done / total, 1.0))

    tokens = torch.tensor(list(ids), device=model.device)
    layers, made = list[LayerTrace](), list[Scores]()
    for layer, how in model.passes(tokens, step, offset):
        layers.append(layer)
        made.append(how)
        del layer
    return Trace(tuple(layers), tuple(made))


def longest(model: Subject) -> int:
    """The largest length that a trace may have now: by encoding and by memory."""
    fits = int(0.8 * devices.free_bytes(model.device)) // model.bytes_per_token
    return min(fits, model.encoding.longest or fits)


def check_length(model: Subject, length: int, offset: int = 0) -> None:
    """Raises LengthError, with the largest length that works, unless `length` can be traced.

    The positions are those from `offset` on.
    """
    end = model.encoding.longest
    most = longest(model)
    if length < SHORTEST:
        raise LengthError(
            say(
                "Expected a length from {least} to {most:,} tokens; got {length}.",
                least=SHORTEST,
                most=most,
                length=length,
            ),
            most,
        )
    if end is not None and length + offset > end:
        raise LengthError(
            say(
                "{encoding} is undefined past {limit}, and {length:,} were asked for; choose at "
                "most {most:,} tokens.",
                encoding=model.config.encoding,
                limit=model.encoding.limit,
                length=length + offset,
                most=end - offset,
            ),
            end - offset,
        )
    if length > most:
        need = length * model.bytes_per_token / 2**30
        raise LengthError(
            say(
                "{length:,} tokens would take about {need:.1f} GiB, more than is free; choose at "
                "most {most:,} tokens.",
                length=length,
                need=need,
                most=most,
            ),
            most,
        )
