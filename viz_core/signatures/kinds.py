"""Heads by kind: what a head looks at most, each kind with what uniform attention would score.

A score is a mean probability. Its excess is what lies above uniform attention, as a share of what
could lie there: 0 for uniform attention, 1 for a head that does nothing else. That makes kinds with
large and small baselines comparable; ratios to the baseline would favour the smallest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.errors import LengthError
from viz_core.words import mark, say

DIAGONAL, PREVIOUS, LOCAL = mark("diagonal"), mark("previous token"), mark("local")
LONG, INDUCTION, SINK = mark("long range"), mark("induction"), mark("sink")
MIXED = mark("mixed")
NEAR = 16  # tokens: "local" is the keys from 2 to NEAR away; as near as T5's exact buckets
LEAST = 0.3  # excess from which a kind counts, after the share that makes a sink in Gu et al. 2024
LEAD = 0.1  # excess that the first of two kinds must have before the second

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """Mean probabilities [head], and what uniform attention has in their place."""

    value: Array
    baseline: float

    @property
    def excess(self) -> Array:
        """(value - baseline) / (1 - baseline): [head]."""
        return (self.value - self.baseline) / (1 - self.baseline)


def by_distance(probability: Array, sink: int = 0) -> dict[str, Score]:
    """The kinds that a head's mean probability by distance [head, distance] tells apart.

    "diagonal" A[i, i] and "previous token" A[i, i - 1]; "local": the keys 2 .. NEAR away; "long
    range": those at least N / 2 away; means over the queries that have such a key. All N - `sink`
    distances of a text of N tokens are expected. With `sink` the first keys were left out of the
    profile (not of the softmax); otherwise they count as long range. LengthError for a text too
    short to tell near from far.
    """
    length = probability.shape[1] + sink
    if length < 4 * NEAR + 2 * sink:
        raise LengthError(
            say(
                "Expected at least {least} tokens to tell near from far; got {length}.",
                least=4 * NEAR + 2 * sink,
                length=length,
            )
        )
    seen = 1 / np.arange(1, length + 1)  # a key's probability, if all that a query sees are alike
    pairs = np.arange(length - sink, 0, -1)
    uniform = seen[::-1].cumsum()[::-1][sink:] / pairs
    total = np.vstack((probability, uniform)) * pairs
    far = length // 2
    first_last = {DIAGONAL: (0, 0), PREVIOUS: (1, 1), LOCAL: (2, NEAR), LONG: (far, length)}
    scores = {}
    for kind, (first, last) in first_last.items():
        value = total[:, first : last + 1].sum(axis=1) / pairs[first]  # queries = pairs at `first`
        scores[kind] = Score(value[:-1], float(value[-1]))
    return scores


def sort(scores: Mapping[str, Score]) -> tuple[str, ...]:
    """The kind of each head: the largest excess, or "mixed".

    A kind counts from an excess of LEAST, and only if it leads the next one by LEAD. `scores` holds
    whatever kinds were measured: those of `by_distance`, sinks, induction. (Induction is measured
    on a text that repeats, so a head may score high on it and on a kind of plain text: "mixed".)
    """
    names = list(scores)
    excess = np.stack([s.excess for s in scores.values()])  # [kind, head]
    best = excess.argmax(axis=0)
    ranked = np.sort(np.vstack((excess, np.full_like(excess[:1], -np.inf))), axis=0)
    clear = (ranked[-1] >= LEAST) & (ranked[-1] - ranked[-2] >= LEAD)
    return tuple(names[b] if c else MIXED for b, c in zip(best, clear, strict=True))
