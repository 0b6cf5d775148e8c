"""How far attention has to reach: the loss with all attention beyond a distance cut off.

Every head of every layer sees the keys at distances 0 .. d only, and its softmax is taken over
those: what is cut is given to the keys that stay. Through several layers a text's influence still
travels further, d tokens a layer. The first keys, which many heads attend to as a sink, are cut
with the rest; a model may fail for want of them and not of what lies far away (Xiao et al. 2024,
StreamingLLM), so they can be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from viz_core import kernels
from viz_core.attribution import places
from viz_core.attribution.forward import Forward
from viz_core.attribution.places import Place
from viz_core.errors import LengthError
from viz_core.model import Transformer
from viz_core.progress import Progress, ignore
from viz_core.trace import check_length
from viz_core.words import say

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Reach:
    """Losses with attention cut, nats per token: loss [text, reach, place].

    `reaches`: the largest distance that stays, tokens, upwards; the last one cuts nothing. The
    first `kept` keys stay at any distance, and at their true one: past the trained length that may
    itself be new to the model. `places`: which targets a loss is the mean of; `length`: tokens that
    were read.
    """

    loss: Array
    reaches: tuple[int, ...]
    places: tuple[Place, ...]
    length: int
    kept: int


def measure(
    model: Transformer,
    texts: Sequence[Sequence[int]],
    reaches: Sequence[int] | None = None,
    kept: int = 0,
    progress: Progress = ignore,
) -> Reach:
    """Losses by reach (default: `doubling`) over `texts` of n + 1 token ids each: n are read.

    The whole reach n is always measured, as the last. `progress` may raise, to cancel. Raises
    LengthError where texts differ in length, for a reach below 0, and as `trace.check_length` does.
    """
    n = places.length(texts)
    check_length(model, n)
    chosen = tuple(sorted({*(doubling(n) if reaches is None else reaches), n}))
    if chosen[0] < 0 or chosen[-1] > n:
        raise LengthError(
            say(
                "Expected distances from 0 to {length:,}; got {first} to {last:,}.",
                length=n,
                first=chosen[0],
                last=chosen[-1],
            )
        )
    forward = Forward(model, n)
    where = places.divide(model.config.length, n)
    loss = np.zeros((len(texts), len(chosen), len(where)))
    with torch.no_grad():
        for r, reach in enumerate(chosen):
            near = beyond(forward.band, reach)

            def attend(layer: int, q: Tensor, k: Tensor, v: Tensor, near: Tensor = near) -> Tensor:
                if kept:
                    return with_first(forward, near, q, k, v, kept)
                return kernels.fused(q, k, v, near, model.config.scale)

            for t, ids in enumerate(texts):
                end = forward.finish(forward.placed(forward.vectors(ids[:n])), 0, attend)
                targets = torch.tensor(list(ids), device=end.device)
                loss[t, r] = places.losses(model, end[0], targets, where)
                progress((r * len(texts) + t + 1) / (len(texts) * len(chosen)))
    return Reach(loss, chosen, where, n, kept)


def doubling(length: int) -> tuple[int, ...]:
    """1, 2, 4 ... below `length`, and `length`, which is the whole."""
    return (*(2**i for i in range((length - 1).bit_length())), length)


def beyond(band: Tensor, reach: int) -> Tensor:
    """A `kernels.band` without what lies beyond `reach`: -inf there."""
    count = (band.shape[-1] + 1) // 2
    near = band.clone()
    near[:, : max(0, count - 1 - reach)] = float("-inf")  # entry t is of distance count - 1 - t
    return near


def with_first(
    forward: Forward, near: Tensor, q: Tensor, k: Tensor, v: Tensor, kept: int
) -> Tensor:
    """Attention under the band `near`, and at any distance to the first `kept` keys: like v."""
    scale, n = forward.model.config.scale, forward.length
    mixed, lse = kernels.fused_with_lse(q, k, v, near, scale)
    seen = kernels.cut(near, (0, n), (0, kept)).isfinite()  # these are in `mixed`
    logits = scale * q @ k[:, :, :kept].transpose(-1, -2)
    logits = logits + kernels.cut(forward.band, (0, n), (0, kept)).masked_fill(seen, float("-inf"))
    total = torch.logaddexp(lse, logits.logsumexp(-1))[..., None]
    return mixed * (lse[..., None] - total).exp() + (logits - total).exp() @ v[:, :, :kept]
