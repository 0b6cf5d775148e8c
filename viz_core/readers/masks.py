"""What a model's mask lets a query see, learnt from a few of its rows, never N x N.

transformers 5 describes a mask as a function of a query's and a key's position. Scores here know
masks by distance alone, so the function is asked about a few whole rows, and a mask that differs
from row to row (chunked attention) is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from viz_core.errors import UsageError
from viz_core.words import say

MaskFunction = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]  # (batch, head, query, key)


@dataclass(frozen=True)
class Sight:
    """What a query sees: distances below `window` (None: all), the future unless `causal`."""

    causal: bool = True
    window: int | None = None

    def rows(self, queries: Tensor, count: int) -> Tensor:
        """Whether each of `queries` [query] sees each of `count` keys: bool [query, key]."""
        distance = queries[:, None] - torch.arange(count, device=queries.device)
        seen = distance.abs() < (count if self.window is None else self.window)
        return seen & (distance >= 0) if self.causal else seen


def told(seen: Tensor, queries: Tensor) -> Sight | None:
    """The Sight by which `queries` (the first, the last and others) see keys as `seen` has it.

    `seen` bool [query, key]; None where it isn't a matter of distance alone.
    """
    count = seen.shape[1]
    causal = not bool(seen[0, 1:].any())  # what the first query sees past itself is the future
    window = int(seen[-1].sum())  # the last query has none of it
    sight = Sight(causal, None if window == count else window)
    return sight if torch.equal(seen, sight.rows(queries, count)) else None


def learn(function: MaskFunction, count: int, device: torch.device | str = "cpu") -> Sight:
    """The Sight that `function` describes over `count` positions.

    Raises UsageError where what is seen isn't a matter of distance alone. Five rows tell: the
    last two and the first, so that a chunk's start shows, and two in the middle.
    """
    rows = {0, count // 3, count // 2, count - 2, count - 1} & set(range(count))
    queries = torch.tensor(sorted(rows), device=device)
    keys = torch.arange(count, device=device)
    zero = torch.zeros(1, 1, dtype=torch.long, device=device)
    seen = function(zero, zero, queries[:, None], keys[None, :]).expand(len(queries), count)
    sight = told(seen, queries)
    if sight is None:
        raise UsageError(
            say(
                "Expected a mask that depends on distance alone; at {count:,} tokens this model's "
                "attention is cut into chunks or blocks, so choose a shorter text.",
                count=count,
            )
        )
    return sight
