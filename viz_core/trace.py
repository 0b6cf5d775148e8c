"""What one forward pass leaves behind: from it every number of the N x N map is a dot product away.

log A[h, i, j] = scale q[h, i] . k[h, j] + bias(h, i - j) - lse[h, i]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from viz_core import devices, kernels
from viz_core.encodings import PositionEncoding
from viz_core.errors import LengthError, TextError
from viz_core.model import ModelConfig, Transformer
from viz_core.progress import Progress, ignore

SHORTEST = 2  # tokens: with one there is nothing to compare


class LayerTrace(NamedTuple):
    """q, k after the encoding [head, position, channel]; lse [head, query], natural log."""

    q: Tensor
    k: Tensor
    lse: Tensor


@dataclass(frozen=True)
class Trace:
    """One text's pass through one model: layers, and how logits are made from q and k."""

    layers: tuple[LayerTrace, ...]
    encoding: PositionEncoding
    scale: float

    @property
    def length(self) -> int:
        """Number of tokens, N."""
        return self.layers[0].q.shape[1]

    @property
    def bytes(self) -> int:
        """Memory that q, k and lse take."""
        return sum(t.nbytes for layer in self.layers for t in layer)

    @cached_property
    def strip(self) -> Tensor:
        """Bias and causal mask by distance (`kernels.band`), shared by all layers."""
        return kernels.band(self.encoding, self.length, self.layers[0].q).detach()

    def strip_of(self, heads: slice) -> Tensor:
        """The part of `strip` that belongs to `heads`; the one row where all heads share it."""
        return self.strip[heads] if len(self.strip) > 1 else self.strip

    def log_attention(
        self, layer: int, rows: tuple[int, int], columns: tuple[int, int], heads: slice
    ) -> Tensor:
        """log A at queries rows[0]:rows[1], keys columns[0]:columns[1]: [head, query, key].

        Exact, in nats; -inf where the key lies after the query. The block is held whole.
        """
        q, k, lse = (t[heads] for t in self.layers[layer])
        (a, b), (c, d) = rows, columns
        logits = self.scale * q[:, a:b] @ k[:, c:d].transpose(-1, -2)
        return logits + kernels.cut(self.strip_of(heads), rows, columns) - lse[:, a:b, None]


@torch.no_grad()
def trace(
    model: Transformer, ids: Sequence[int], progress: Progress = ignore, offset: int = 0
) -> Trace:
    """Runs `ids` through `model` (on the model's device) in memory linear in their number.

    The first token stands at position `offset`. `progress` is called within each layer too, and
    may raise, to cancel. Raises TextError for fewer than 2 tokens, LengthError where the encoding
    has no value or the estimate exceeds the memory at hand; the largest length that fits is then
    in the error.
    """
    if len(ids) < SHORTEST:
        raise TextError(f"Expected at least {SHORTEST} tokens; got {len(ids)}. Give a longer text.")
    device = next(model.parameters()).device
    check_length(model, len(ids), device, offset)
    done, total = 0, model.config.layers * kernels.pairs(len(ids), len(ids))

    def step(pairs: int) -> None:
        nonlocal done
        done += pairs
        progress(done / total)

    layers = []
    tokens = torch.tensor([list(ids)], device=device)
    for _, layer in model.each_layer(tokens, None, True, step, offset):
        assert layer.lse is not None
        # copies, where these are views of the product that holds v too
        layers.append(LayerTrace(layer.q[0].contiguous(), layer.k[0].contiguous(), layer.lse[0]))
        del layer
    return Trace(tuple(layers), model.encoding, model.config.scale)


def bytes_per_token(config: ModelConfig) -> int:
    """An upper estimate of what tracing one more token costs at the peak, bytes (float32).

    Kept q, k, v of each layer, plus the widest moment within a block: stream, its normalised
    copy, q, k, v with their rotated copies, and the MLP's hidden vectors before and after GELU.
    """
    return 4 * config.width * (3 * config.layers + 10 + 2 * config.mlp)


def longest(model: Transformer, device: torch.device) -> int:
    """The largest length that a trace on `device` may have now: by encoding and by memory."""
    fits = int(0.8 * devices.free_bytes(device)) // bytes_per_token(model.config)
    return min(fits, model.encoding.longest or fits)


def check_length(model: Transformer, length: int, device: torch.device, offset: int = 0) -> None:
    """Raises LengthError, with the largest length that works, unless `length` can be traced.

    The positions are those from `offset` on.
    """
    end = model.encoding.longest
    most = longest(model, device)
    if length < SHORTEST:
        raise LengthError(
            f"Expected a length from {SHORTEST} to {most:,} tokens; got {length}.", most
        )
    if end is not None and length + offset > end:
        raise LengthError(
            f"{model.config.encoding} is undefined past its {end:,} trained positions, and "
            f"{length + offset:,} were asked for; choose at most {end - offset:,} tokens.",
            end - offset,
        )
    if length > most:
        need = length * bytes_per_token(model.config) / 2**30
        raise LengthError(
            f"{length:,} tokens would take about {need:.1f} GiB, more than is free; "
            f"choose at most {most:,} tokens.",
            most,
        )
