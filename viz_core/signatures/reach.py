"""Reach: the distance within which a head spends 50, 90 or 99 % of its attention.

A reach is a continuous number of tokens. Between whole tokens the attention that is left falls
exponentially, so that ALiBi's bias alone has its closed form -ln(1 - share) / m at every share, and
a head that looks at one distance only has that distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from viz_core.errors import LengthError, UsageError
from viz_core.signatures.chance import p_value
from viz_core.words import say

SHARES = (0.5, 0.9, 0.99)
SHUFFLES = 999

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Progression:
    """By what factor reach grows from head to head, with its 95 % interval.

    2 for ALiBi with eight heads in a text without end: the stairs. In a text that ends, flat heads
    reach no further than its start; compare with the reach of `geometric`. 1 for heads in no order;
    `p`: how often shuffled heads are in as good an order, up or down (Kendall's count of pairs).
    """

    factor: float
    low: float
    high: float
    p: float


def mass(probability: Array, pairs: npt.NDArray[np.integer]) -> Array:
    """The share of all attention that goes to each distance: [head, distance], rows sum to 1.

    From the mean probability by distance [head, distance] and the pairs behind each mean. Where
    keys were left out (sinks), or far distances, it is the share of what was kept.
    """
    total = probability * pairs
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def geometric(slope: Array, length: int) -> Array:
    """`mass` of a bias -m d without any content, over all queries of `length` tokens.

    slope m [head] -> [head, distance]. With m = 0 attention is uniform over the keys that a query
    sees: the baseline of every reach. LengthError for no token.
    """
    if length < 1:
        raise LengthError(
            say("Expected at least 1 token to attend to; got {length}.", length=length)
        )
    weight = np.exp(-slope[:, None] * np.arange(length))
    per_query = 1 / weight.cumsum(axis=1)
    later = per_query[:, ::-1].cumsum(axis=1)[:, ::-1]  # queries that have a key at distance d
    return np.asarray(weight * later / length)


def reach(mass: Array, shares: tuple[float, ...] = SHARES) -> Array:
    """The distance that holds each share (below 1) of a head's attention: [head, share], tokens.

    `mass` [head, distance] as from `mass` or `geometric`: the key at distance d stands for the
    stretch from d to d + 1.
    """
    left = mass[:, ::-1].cumsum(axis=1)[:, ::-1]  # at distance d and beyond; summed from the far
    left = np.pad(left, ((0, 0), (0, 1)))  # end, so that small tails keep their digits
    found = np.empty((len(mass), len(shares)))
    for s, share in enumerate(shares):
        goal = (1 - share) * left[:, 0]
        at = (left[:, 1:] <= goal[:, None]).argmax(axis=1)
        before, after = (np.take_along_axis(left, (at + n)[:, None], 1)[:, 0] for n in (0, 1))
        with np.errstate(divide="ignore"):  # nothing left: an infinite fall, so a fraction of 0
            found[:, s] = at + np.log(before / goal) / np.log(before / after)
    return found


def nominal(slope: Array, shares: tuple[float, ...] = SHARES, keys: float = math.inf) -> Array:
    """Reach of one query with `keys` keys under the bias -m d alone: [head, share], tokens.

    -ln(1 - share (1 - e^(-m keys))) / m: the geometric distribution of Press et al. 2022's bias,
    cut at the text's start; -ln(1 - share) / m without end (half-life ln 2 / m). UsageError unless
    every m is positive.
    """
    if not (slope > 0).all():
        raise UsageError(
            say("Expected positive slopes for a nominal reach; got {least:g}.", least=slope.min())
        )
    m = slope[:, None]
    return np.asarray(-np.log1p(np.array(shares) * np.expm1(-m * keys)) / m)


def progression(reach: Array, number: Array, seed: int = 0) -> Progression:
    """The factor of reach [head] per unit of `number` [head], by Theil and Sen's robust line.

    `number` is the head's number where slopes form one geometric series; otherwise (12 heads) it
    is -log2 of the nominal slope, and the factor is per halving of the slope. The median slope of
    log2(reach) between all pairs of heads, and Sen's interval (1968, normal approximation without
    ties). LengthError for fewer than 3 heads or a reach of 0.
    """
    if len(reach) < 3 or not (reach > 0).all():
        raise LengthError(
            say(
                "Expected at least 3 heads of positive reach for a progression; got {heads} "
                "heads, the smallest reach {least:g}.",
                heads=len(reach),
                least=reach.min(),
            )
        )
    heads, log = len(reach), np.log2(reach)
    one, other = np.triu_indices(heads, 1)
    apart = number[other] - number[one]
    slopes = np.sort((log[other] - log[one]) / apart)
    spread = NormalDist().inv_cdf(0.975) * math.sqrt(heads * (heads - 1) * (2 * heads + 5) / 18)
    edge = max(0, math.floor((len(slopes) - spread) / 2) - 1)
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(np.tile(log, (SHUFFLES, 1)), axis=1)
    order = np.abs(np.sign(slopes).sum())
    null = np.abs(np.sign((shuffled[:, other] - shuffled[:, one]) / apart).sum(axis=1))
    return Progression(
        float(2 ** np.median(slopes)),
        float(2 ** slopes[edge]),
        float(2 ** slopes[-1 - edge]),
        float(p_value(order, null)),
    )
