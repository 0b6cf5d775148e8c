"""A head at a glance: four numbers per head, quick enough to sort a wall by.

Reach, sink and entropy come from evenly spaced queries of one text, ripple from the curve. The
statistics with nulls and intervals are those of `signatures`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch

from viz_core import kernels
from viz_core.signatures import trend
from viz_core.subject import Scores
from viz_core.trace import Trace
from viz_core.types import SINK, Curve

QUERIES = 32
SHARE = 0.9  # of a query's attention, within the reach

Array = npt.NDArray[np.float64]


def rows(trace: Trace, layer: int) -> dict[str, Array]:
    """Medians over `QUERIES` evenly spaced queries that see more than the sink keys: [head] each.

    "reach": the fewest nearest keys that hold 90 % of a query's attention; "sink": the share of
    the first SINK keys; "entropy": -sum A ln A as a share of that of uniform attention. Texts of
    up to SINK + 1 tokens have none: NaN.
    """
    n, heads, how = trace.length, trace.heads, trace.scores[layer]
    first = SINK + 1
    if n <= first:
        return {name: np.full(heads, np.nan) for name in ("reach", "sink", "entropy")}
    chosen = np.unique(np.linspace(first, n - 1, QUERIES).round().astype(int)).tolist()
    found = []
    size = max(1, kernels.BLOCK_CELLS // (heads * n))
    for start in range(0, len(chosen), size):
        some = chosen[start : start + size]
        p = _attention(trace, layer, some)
        distance = torch.tensor(some)[:, None] - torch.arange(n)
        # the nearest first; in a causal map from the query down, with what it doesn't see last
        order = distance % n if how.causal else distance.abs().argsort(dim=-1)
        sorted_by_distance = p.gather(-1, order.to(p.device).expand_as(p))
        reached = (sorted_by_distance.cumsum(-1) < SHARE).sum(-1) + 1
        seen = [_seen(i, n, how) for i in some]
        even = torch.tensor([math.log(count) for count in seen], device=p.device)
        entropy = torch.special.entr(p).sum(-1) / even
        found.append(torch.stack((reached.to(p), p[..., :SINK].sum(-1), entropy)).cpu())
    reach, sink, entropy = torch.cat(found, dim=-1).double().median(-1).values.numpy()
    return {"reach": reach, "sink": sink, "entropy": entropy}


def ripple(curve: Curve) -> Array:
    """How far a curve swings about its trend (`signatures.trend`): [head], root mean square over
    all pairs, nats."""
    rest = trend.remove(curve.value, curve.pairs, np.empty(0))
    return np.asarray(np.sqrt(np.average(rest**2, axis=1, weights=curve.pairs)))


def _seen(query: int, length: int, how: Scores) -> int:
    """How many keys a query sees, at least 2: an entropy needs a choice."""
    first, end = kernels.seen(query, query + 1, length, how.window, how.causal)
    return max(2, end - first)


def _attention(trace: Trace, layer: int, queries: list[int]) -> torch.Tensor:
    """A of single queries over all keys: [head, query, key], 0 where the key lies after."""
    q, k, lse = trace.take(layer)
    n, strip = trace.length, trace.strip(layer)
    logits = trace.logits(layer, q[:, queries] @ k.transpose(-1, -2)) - lse[:, queries, None]
    bands = torch.stack([strip[:, n - 1 - i : 2 * n - 1 - i] for i in queries], dim=1)
    return (logits + bands).exp_()
