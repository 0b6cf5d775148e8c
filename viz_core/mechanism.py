"""What attention does as the text grows: how spread it is, how far it reaches, what is new to it.

Loss says that a model fails past its trained length; these numbers stand beside it. Each is a mean
over the last queries of a text, so that at every length the same tokens can ask (give inputs that
end at the same token), and the shares are of what uniform attention over the same keys would have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from viz_core import kernels
from viz_core.encodings import PositionEncoding
from viz_core.encodings.rope import RoPE
from viz_core.errors import LengthError
from viz_core.trace import Trace
from viz_core.types import SINK
from viz_core.words import say

ROWS = 256  # last queries that are looked at

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Mechanism:
    """Means over the last `queries` queries of one text; all arrays [layer, head], float64.

    entropy -sum_j A ln A, nats, and its share of ln(i + 1); sink_mass: probability of the first
    SINK keys; mean_distance sum_j (i - j) A, tokens, and its share of i / 2; beyond_trained:
    probability of keys at distances that training never showed, from the trained length on.
    """

    entropy: Array
    entropy_share: Array
    sink_mass: Array
    mean_distance: Array
    mean_distance_share: Array
    beyond_trained: Array
    queries: int


def measure(
    trace: Trace, rows: int = ROWS, progress: Callable[[float], None] = lambda done: None
) -> Mechanism:
    """The mechanism of all layers and heads on the last `rows` queries of `trace`, in blocks.

    The first query is never among them: it sees itself alone, and a share of nothing is no number.
    `progress(done)` is called with 0 .. 1 and may raise, to cancel. LengthError for no rows.
    """
    if rows < 1:
        raise LengthError(say("Expected at least 1 row of queries; got {rows}.", rows=rows))
    n = trace.length
    first = max(1, n - rows)
    layers = []
    for layer in range(len(trace.layers)):
        progress(layer / len(trace.layers))
        layers.append(_rows(trace, layer, first))
    progress(1.0)
    entropy, sink, distance, beyond = np.stack(layers, axis=1)  # each [layer, head, query]
    query = np.arange(first, n)
    return Mechanism(
        entropy.mean(-1),
        (entropy / np.log(query + 1)).mean(-1),
        sink.mean(-1),
        distance.mean(-1),
        (distance / (query / 2)).mean(-1),
        beyond.mean(-1),
        n - first,
    )


def _rows(trace: Trace, layer: int, first: int) -> Array:
    """Entropy, sink mass, mean distance, mass beyond the trained length: [4, head, query]."""
    n, how = trace.length, trace.scores[layer]
    trained = how.encoding.geometry.length
    heads = trace.heads
    blocks = []
    for a, b in kernels.row_blocks((first, n), heads * n):
        keys = kernels.seen(a, b, n, how.window, how.causal)
        p = trace.log_attention(layer, (a, b), keys, slice(None)).exp_()
        distance = (torch.arange(a, b)[:, None] - torch.arange(*keys)).abs().to(p)
        values = (
            torch.special.entr(p).sum(-1),  # -p ln p, 0 where p is
            p[..., : max(0, SINK - keys[0])].sum(-1),
            (p * distance).sum(-1),  # keys that come later have p = 0
            p.masked_fill(distance < (trained or math.nan), 0).sum(-1),
        )
        blocks.append(torch.stack(values).cpu().double().numpy())
    return np.concatenate(blocks, axis=-1)


def unseen_phases(
    encoding: PositionEncoding, length: int, trained: int, trained_theta: float = 10000.0
) -> float | None:
    """The share of RoPE's angles at `length` tokens that training never showed.

    Counted over all causal pairs of tokens and all pairs of channels k: those whose angle
    d theta'_k (mod 2 pi), at the encoding's present frequencies theta'_k, lies outside the arc
    [0, L theta_k) that training covered at L = `trained` tokens with the plain frequencies of base
    `trained_theta`. A pair of channels that completed a turn in training has met every angle. The
    positions 0 .. L - 1 stand for [0, L): position interpolation by N / L, which maps [0, N) to it
    (Chen et al. 2023, eq. 4), then meets no new angle. None for encodings without rotation.
    """
    if not isinstance(encoding, RoPE) or not encoding.rotary:
        return None
    plain = encoding.plain(trained_theta)
    present, _ = encoding.frequencies(length)
    distance = torch.arange(length, dtype=torch.float64)
    pairs = torch.arange(length, 0, -1)  # of tokens, at each distance
    unseen = 0
    for known, theta in zip((trained * plain).tolist(), present.tolist(), strict=True):
        if known < 2 * math.pi:
            unseen += int(pairs[(distance * theta) % (2 * math.pi) >= known].sum())
    return unseen / (len(plain) * length * (length + 1) // 2)
