"""What each head is worth: the loss with the head replaced, near and far, within and beyond.

Ablation after Michel et al. 2019 (a head set to zero) and Wang et al. 2022 (to its mean output);
the other two keep the head and replace its attention: by none at all (uniform over the keys a query
sees), and by what is position alone in it, the softmax of its own curve by distance b(d), the
row-fixed-effects fit log A[i, j] = alpha_i + b(i - j) of `decay`, with no content left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core import decay, kernels
from viz_core.attribution import places
from viz_core.attribution.forward import Forward
from viz_core.attribution.places import Place
from viz_core.model import Transformer
from viz_core.progress import Progress, ignore
from viz_core.trace import trace
from viz_core.words import mark

REPLACEMENTS = {
    "zero": mark("the head moves nothing"),
    "mean": mark("the head moves its mean output over these texts, whatever they say"),
    "uniform": mark("the head attends to all keys that it sees alike"),
    "position": mark("the head attends by distance alone, by the mean curve of its attention"),
}

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class HeadImportance:
    """Losses of a model with heads replaced, nats per token, for each text on its own.

    plain [text, place]; loss [text, replacement, layer, head, place], of one head; together
    [text, replacement, place], of all heads of all layers at once. Replacements in the order of
    REPLACEMENTS; `places`: which targets a loss is the mean of; `length`: tokens that were read.
    """

    plain: Array
    loss: Array
    together: Array
    places: tuple[Place, ...]
    length: int

    @property
    def effect(self) -> Array:
        """What a head's replacement adds to the loss: [replacement, layer, head, place], nats."""
        return np.asarray((self.loss - self.plain[:, None, None, None]).mean(0))


def measure(
    model: Transformer, texts: Sequence[Sequence[int]], progress: Progress = ignore
) -> HeadImportance:
    """The importance of all heads, over `texts` of n + 1 token ids each: n are read.

    Curves and mean outputs are those of the same texts at the same length. `progress` may raise, to
    cancel. Raises LengthError where texts differ in length, and as `trace.trace` does.
    """
    length = places.length(texts)
    config, forward = model.config, Forward(model, length)
    where = places.divide(config.length, length)
    runs = 2 + len(REPLACEMENTS) * (config.layers * config.heads + 1)  # of each text
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        progress(done / (runs * len(texts)))

    with torch.no_grad():
        own = _own(forward, texts, step)
        found = [_measure(forward, ids, own, where, step) for ids in texts]
    plain, loss, together = (np.stack(parts) for parts in zip(*found, strict=True))
    return HeadImportance(plain, loss, together, where, length)


@dataclass(frozen=True)
class _Own:
    """What heads do on average: mean outputs [layer, head, channel], curves [layer, head, n]."""

    means: Tensor
    curves: Tensor

    def instead(self, name: str, layer: int, v: Tensor) -> Tensor:
        """What the heads of `layer` mix of v [1, h, n, c] under the replacement `name`."""
        match name:
            case "zero":
                return torch.zeros_like(v)
            case "mean":
                return self.means[layer, None, :, None].expand_as(v)
            case "uniform":
                return mix(torch.zeros_like(self.curves[layer]), v)
        return mix(self.curves[layer], v)


def mix(curve: Tensor, v: Tensor) -> Tensor:
    """Attention that distance alone decides: v [1, h, n, c] weighed by softmax of curve(i - j).

    curve [h, n], nats, up to a constant. Returns the shape of v.
    """
    strip = F.pad(curve.flip(-1), (0, v.shape[2] - 1), value=float("-inf"))
    nothing = torch.zeros_like(v)
    return kernels.fused(nothing, nothing, v, strip, 1.0)


def _own(forward: Forward, texts: Sequence[Sequence[int]], step: Callable[[], None]) -> _Own:
    """Means and curves over `texts`. A curve stays level from where too few pairs show it."""
    model, n = forward.model, forward.length
    count = model.config.layers
    parts: list[list[decay.Part]] = [[] for _ in range(count)]
    means = [torch.zeros(()) for _ in range(count)]
    for ids in texts:
        traced = trace(model, ids[:n])
        x = forward.placed(forward.vectors(ids[:n]))
        for layer in range(count):
            parts[layer].append(decay.part(traced, layer))
            mixed = forward.attend(layer, *forward.project(layer, x))
            means[layer] = means[layer].to(mixed) + mixed[0].mean(1) / len(texts)
            x = forward.close(layer, x, mixed)
        step()
    curves = [decay.by_distance(p).value for p in parts]
    level = [np.pad(c, ((0, 0), (0, n - c.shape[1])), mode="edge") for c in curves]
    return _Own(torch.stack(means), torch.from_numpy(np.stack(level)).to(x))


def _measure(
    forward: Forward,
    ids: Sequence[int],
    own: _Own,
    where: Sequence[Place],
    step: Callable[[], None],
) -> tuple[Array, Array, Array]:
    """One text's losses: plain [place], loss [replacement, layer, head, place], together.

    What a head's layer is given, and what its other heads do, is that of the plain pass: only the
    layers from there on are run again.
    """
    model, n = forward.model, forward.length
    config = model.config
    targets = torch.tensor(list(ids), device=own.means.device)

    def score(end: Tensor) -> Array:
        step()
        return places.losses(model, end[0], targets, where)

    start = forward.placed(forward.vectors(ids[:n]))
    x, kept = start, []
    for layer in range(config.layers):
        q, k, v = forward.project(layer, x)
        mixed = forward.attend(layer, q, k, v)
        kept.append((x, v, mixed))
        x = forward.close(layer, x, mixed)
    plain = score(forward.finish(x, config.layers))
    loss = np.zeros((len(REPLACEMENTS), config.layers, config.heads, len(where)))
    together = np.zeros((len(REPLACEMENTS), len(where)))
    for r, name in enumerate(REPLACEMENTS):
        for layer, (x, v, mixed) in enumerate(kept):
            others = own.instead(name, layer, v)
            for head in range(config.heads):
                changed = mixed.clone()
                changed[:, head] = others[:, head]
                after = forward.close(layer, x, changed)
                loss[r, layer, head] = score(forward.finish(after, layer + 1))

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor, name: str = name) -> Tensor:
            return own.instead(name, layer, v)

        together[r] = score(forward.finish(start, 0, attend))
    return plain, loss, together
