"""Where in a text a loss is read: early or late, within the trained length or beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor
from torch.nn import functional as F

from viz_core.errors import LengthError
from viz_core.model import Transformer
from viz_core.perplexity import intervals
from viz_core.perplexity.intervals import Estimate
from viz_core.perplexity.scoring import LOGITS
from viz_core.words import mark, say

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Place:
    """A range of positions, both ends included; a position is the number of tokens before."""

    name: str
    first: int
    last: int


def divide(trained: int, length: int) -> tuple[Place, ...]:
    """Of `length` tokens, with L = `trained`: near, far and beyond, as far as they are reached.

    near: 1 to L / 8, where few tokens come before; far: the second half of the trained length;
    beyond: what training never showed. The rest is scored by none.
    """
    ranges = (
        (mark("near"), 1, max(1, trained // 8)),
        (mark("far"), trained // 2 + 1, trained),
        (mark("beyond"), trained + 1, length),
    )
    found = (Place(name, a, min(b, length)) for name, a, b in ranges)
    return tuple(p for p in found if p.first <= p.last)


def losses(model: Transformer, end: Tensor, ids: Tensor, where: Sequence[Place]) -> Array:
    """Mean of -log p over the targets of each place: [place], nats per token.

    `end` [n, w]: the normalised stream of a pass over the first n of `ids` [n + 1]. Raises
    LengthError where a loss is not finite.
    """
    found = []
    weight = model.embedding.weight
    step = max(1, LOGITS // len(weight))
    for place in where:
        total = 0.0
        for a in range(place.first - 1, place.last, step):  # the target of row a has a + 1 before
            b = min(a + step, place.last)
            logits = (end[a:b] @ weight.T).float()
            total += float(F.cross_entropy(logits, ids[a + 1 : b + 1], reduction="sum"))
        found.append(total / (place.last + 1 - place.first))
    if not np.isfinite(found).all():
        raise LengthError(
            say("The model's losses at {length:,} tokens are not finite.", length=len(end))
        )
    return np.array(found)


def added(changed: Array, plain: Array) -> Estimate:
    """What the losses `changed` [text] add to `plain` ones, nats, and the 95 % interval over texts.

    Pairs of the same tokens, as many in each text, resampled as whole texts.
    """
    return intervals.difference(changed, plain, np.ones(len(plain)))


def length(texts: Sequence[Sequence[int]]) -> int:
    """n of texts of n + 1 tokens each: what is read, the last one being only predicted.

    Raises LengthError unless they are of one length.
    """
    lengths = sorted({len(ids) for ids in texts})
    if len(lengths) != 1 or lengths[0] < 3:
        raise LengthError(
            say(
                "Expected texts of one length of at least 3 tokens; got lengths {lengths}.",
                lengths=lengths,
            )
        )
    return lengths[0] - 1
