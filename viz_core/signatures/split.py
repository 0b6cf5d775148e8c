"""Split: how much of a head's log-attention is position, and how much content.

Within each row of the map, the variance of log-attention over its keys; of that, the part that
distance alone explains, b(d) in log A[i, j] = alpha_i + b(i - j). Three sums per text suffice, no
map is held. The row effects drop out; what is left is orthogonal in Helmert's contrasts, each
distance against the mean of all nearer ones, because a row that holds a distance holds all nearer.

What a key draws for its place in the text, whoever asks, is part of the share: within a row, place
and distance are one. Over all distances the far ones, which hardly count in attention, weigh most;
leave them out to split what a steep head can see.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.errors import LengthError
from viz_core.signatures.chance import DRAWS, p_value
from viz_core.words import say

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """Shares of the variance within rows that distance explains; arrays [head].

    `explained`: adjusted R^2 of one curve for all texts; around 0 without any position.
    `held_out`: the share that the curve of the other texts explains, below 0 where it misleads.
    `p`: how often curves turned upside down at random, text by text, agree as well with each other;
    1/32 or so at best from 6 texts, so fewer prove nothing. The last two are NaN from a single
    text, all three where log-attention doesn't vary.
    """

    explained: Array
    held_out: Array
    p: Array
    texts: int


def split(diagonal: Array, row: Array, squares: Array, draws: int = DRAWS, seed: int = 0) -> Split:
    """The split from sums of y[i, j], log-attention or logits: constants of a row don't matter.

    Over keys from the first that counts on, so that row m holds the distances 0 .. m, or 0 .. D - 1
    where far pairs are left out:
    - diagonal [text, head, distance D]: sums of y at each distance;
    - row [text, head, row R]: sums of y along each row, R >= D;
    - squares [text, head]: the sum of y^2 over all these pairs.
    For y = scale q.k + b(d), squares is the sum over i of scale^2 q_i' (sum_j k_j k_j') q_i
    + 2 scale q_i.(sum_j b(i - j) k_j), plus the sum over d of pairs(d) b(d)^2: prefix sums and one
    convolution. LengthError for sums that leave nothing to explain.
    """
    texts, _, distances = diagonal.shape
    rows = row.shape[2]
    held = np.minimum(np.arange(rows) + 1, distances)  # keys of each row
    pairs = int(held.sum())
    freedom = texts * (pairs - rows)
    if distances < 2 or rows < distances or freedom < distances:
        raise LengthError(
            say(
                "Expected at least 3 rows that hold at least 2 distances; got {rows} and "
                "{distances}.",
                rows=rows,
                distances=distances,
            )
        )
    within = squares - (row**2 / held).sum(axis=2)  # [text, head]
    contrast = _contrasts(diagonal, row / held)
    agree = np.einsum("shd,thd->hst", contrast, contrast)  # how much any two texts' curves agree
    total = within.sum(axis=0)
    varies = total > 1e-12 * squares.sum(axis=0)
    total = np.where(varies, total, np.nan)
    told = agree.sum(axis=(1, 2)) / texts
    explained = 1 - (1 - told / total) * freedom / (freedom - (distances - 1))
    nothing = np.full_like(told, np.nan)
    if texts == 1:
        return Split(explained, nothing, nothing, texts)
    own = np.einsum("htt->ht", agree)
    with_rest = agree.sum(axis=2) - own  # texts - 1 times the agreement with the others' mean
    rest = agree.sum(axis=(1, 2))[:, None] - own - 2 * with_rest
    held_out = (2 * with_rest / (texts - 1) - rest / (texts - 1) ** 2).sum(axis=1) / total
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), (draws, texts))
    null = np.einsum("ns,hst,nt->nh", signs, agree, signs) / texts / total
    return Split(explained, held_out, p_value(told / total, null, slack=1e-9), texts)


def _contrasts(diagonal: Array, mean: Array) -> Array:
    """Coordinates of the row-centred sums in Helmert's contrasts: [text, head, distance - 1].

    With g(d) the sum at distance d of y less its row's mean, and n(d) pairs there, contrast d is
    (d g(d) - g(0) - .. - g(d - 1)) / sqrt(d (d + 1) n(d)); its square is the sum of squares that
    the contrast explains.
    """
    distances, rows = diagonal.shape[2], mean.shape[2]
    means = mean[..., ::-1].cumsum(axis=2)[..., ::-1][..., :distances]  # of the rows with d
    g = diagonal - means
    d = np.arange(1, distances)
    top = d * g[..., 1:] - g.cumsum(axis=2)[..., :-1]
    return np.asarray(top / np.sqrt(d * (d + 1) * (rows - d)))
