"""Which attention a prediction needs: integrated gradients on the pattern of each head.

A map shows where a head looks, its attribution what of that matters. For one layer at a time,
(query, key) by (query, key), as Hao et al. 2021 ("Self-Attention Attribution", eq. 2-3) do it:
Attr[h, i, j] = A[h, i, j] x the mean of dF / dA[h, i, j] over a A, 0 <= a <= 1, where all heads of
the layer share a and the layers above see what then reaches them. The pattern is held whole: the
one place here where memory grows with the square of the length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from captum.attr import IntegratedGradients
from torch import Tensor

from viz_core import devices, kernels
from viz_core.attribution.forward import Forward
from viz_core.attribution.targets import Target
from viz_core.attribution.tokens import STEPS, bytes_per_token, unconverged
from viz_core.errors import LengthError, UsageError
from viz_core.model import ModelConfig, Transformer
from viz_core.progress import Progress, ignore
from viz_core.trace import check_length
from viz_core.words import say

PATTERNS = 10  # of a layer, held at once: the pattern, one on the way, its gradient, products, sums

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PatternAttribution:
    """What each pair of tokens adds to a number through each head, in its unit (nats); signed.

    value [layer, head, query, key], float32, over the tokens up to the last query that is asked.
    by_distance [layer, head, distance]: its sums over the pairs at each distance; attention, of the
    same shape, the sums of the pattern over those pairs, so that their quotient is what attention
    at a distance is worth. output: the number; without [layer]: the number if that layer's
    attention moved nothing; `layers`: which ones, counted from 0.
    """

    value: npt.NDArray[np.float32]
    by_distance: Array
    attention: Array
    output: float
    without: Array
    layers: tuple[int, ...]
    steps: int

    @property
    def delta(self) -> Array:
        """What the values of each layer add up to, less output - without: the error, [layer]."""
        return np.asarray(self.by_distance.sum((1, 2)) - (self.output - self.without))

    @property
    def warning(self) -> str:
        """A sentence for the first layer that has not converged, else ""."""
        for layer, delta, without in zip(self.layers, self.delta, self.without, strict=True):
            if words := unconverged(float(delta), self.output - float(without), self.steps):
                return say("Layer {layer}: {words}", layer=layer + 1, words=words)
        return ""


def attribute(
    model: Transformer,
    ids: Sequence[int],
    target: Target,
    layers: Iterable[int] | None = None,
    steps: int = STEPS,
    progress: Progress = ignore,
) -> PatternAttribution:
    """What the attention of each head of `layers` (default: all) adds to `target` in text `ids`.

    `progress` may raise, to cancel. Raises LengthError, with the largest length that works, for one
    whose patterns don't fit; UsageError for what can't be asked.
    """
    config = model.config
    chosen = tuple(sorted(set(range(config.layers) if layers is None else layers)))
    if steps < 1 or not chosen or not set(chosen) <= set(range(config.layers)):
        raise UsageError(
            say(
                "Expected layers from 0 to {last} and at least 1 step; got {layers} and {steps}.",
                last=config.layers - 1,
                layers=list(chosen),
                steps=steps,
            )
        )
    target.check(len(ids), config.vocabulary)
    place, n = model.embedding.weight.device, target.reads
    check(model, n, len(chosen), place)
    forward = Forward(model, n)
    value = np.zeros((len(chosen), config.heads, n, n), np.float32)
    by_distance, attention = np.zeros((2, len(chosen), config.heads, n))
    without = np.zeros(len(chosen))
    output, done = 0.0, 0
    with torch.no_grad():
        x = forward.placed(forward.vectors(ids[:n]))
    for layer in range(chosen[-1] + 1):
        with torch.no_grad():
            q, k, v = forward.project(layer, x)
            mixed = forward.attend(layer, q, k, v)
        if layer in chosen:

            def number(a: Tensor, layer: int = layer, x: Tensor = x, v: Tensor = v) -> Tensor:
                """[b] of patterns a [b, h, n, n] of this layer."""
                nonlocal done
                after = forward.close(layer, x.expand(len(a), -1, -1), a @ v)
                found = target.value(model, forward.finish(after, layer + 1))
                done += 1
                progress(done / (len(chosen) * (steps + 2)))
                return found

            at = chosen.index(layer)
            with torch.no_grad():
                a = pattern(forward, q, k)
                output, without[at] = float(number(a)), float(number(torch.zeros_like(a)))
            found = IntegratedGradients(number).attribute(a, n_steps=steps, internal_batch_size=1)
            value[at] = found[0].detach().cpu().numpy()
            by_distance[at], attention[at] = diagonals(found[0].detach()), diagonals(a[0])
            del a, found
        with torch.no_grad():
            x = forward.close(layer, x, mixed)
    return PatternAttribution(value, by_distance, attention, output, without, chosen, steps)


def pattern(forward: Forward, q: Tensor, k: Tensor) -> Tensor:
    """The probabilities that a layer's attention applies, whole: [b, h, query, key]."""
    n = forward.length
    logits = forward.model.config.scale * q @ k.transpose(-1, -2)
    return (logits + kernels.cut(forward.band, (0, n), (0, n))).softmax(-1)


def diagonals(x: Tensor) -> Array:
    """Sums of x [h, query, key] over the pairs at each distance: [h, distance], float64."""
    sums = [x.diagonal(-d, 1, 2).sum(-1, dtype=torch.float64) for d in range(x.shape[-1])]
    return np.asarray(torch.stack(sums, dim=-1).cpu().numpy())


def bytes_needed(config: ModelConfig, length: int, layers: int) -> int:
    """An upper estimate of what `attribute` takes for `length` tokens and `layers`, bytes."""
    return 4 * config.heads * length**2 * (PATTERNS + layers) + length * bytes_per_token(config)


def longest(model: Transformer, layers: int, device: torch.device) -> int:
    """The largest length whose patterns fit into the memory at hand, for so many layers."""
    room = int(0.8 * devices.free_bytes(device))
    square = 4 * model.config.heads * (PATTERNS + layers)
    linear = bytes_per_token(model.config)
    fits = int((math.sqrt(linear**2 + 4 * square * room) - linear) / (2 * square))
    return min(fits, model.encoding.longest or fits)


def check(model: Transformer, length: int, layers: int, device: torch.device) -> None:
    """Raises LengthError, with the largest length that works, unless `length` can be attributed."""
    check_length(model, max(length, 2))
    most = longest(model, layers, device)
    if length > most:
        need = bytes_needed(model.config, length, layers) / 2**30
        raise LengthError(
            say(
                "The patterns of {layers} layers at {length:,} tokens would take about {need:.1f} "
                "GiB, more than is free; choose at most {most:,} tokens, or fewer layers.",
                layers=layers,
                length=length,
                need=need,
                most=most,
            ),
            most,
        )
