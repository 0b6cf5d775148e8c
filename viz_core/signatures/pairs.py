"""Frequency use: how a head spreads the norm of its queries and keys over RoPE's pairs.

No pair can add more to a score than the product of its two norms (Cauchy-Schwarz; Barbero et al.
2024, section 4). Norms don't change with rotation, so q and k may be taken before or after it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.signatures import frequencies

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Use:
    """Shares of the largest score that a head's pairs could make together.

    share [head, pair] sums to 1 per head; `even` is each pair's, were all used alike. effective
    [head]: how many pairs, used alike, are as spread out (the exponential of the entropy). turns
    [pair] in training; incomplete [head]: the share of the pairs that never completed one, and
    `incomplete_even` what it is for pairs used alike; NaN where the trained length is unknown.
    """

    share: Array
    even: float
    effective: Array
    turns: Array
    incomplete: Array
    incomplete_even: float


def use(query: Array, key: Array, theta: Array, length: int) -> Use:
    """Frequency use from the mean norms of each pair of channels in queries and keys.

    query, key [head, pair]: the means over positions of |q_k| and |k_k|; theta [pair], radians per
    token; `length` the trained one, 0 if unknown. NaN for a head without any norm.
    """
    product = query * key
    total = product.sum(axis=1, keepdims=True)
    share = np.where(total > 0, product / np.where(total > 0, total, 1), np.nan)
    entropy = -(share * np.log(np.where(share > 0, share, 1))).sum(axis=1)
    turns = frequencies.turns(theta, length)
    never, known = turns < 1, 1.0 if length else np.nan
    return Use(
        share,
        1 / share.shape[1],
        np.exp(entropy),
        turns,
        known * share[:, never].sum(axis=1),
        known * float(never.mean()),
    )
