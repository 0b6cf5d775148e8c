"""Has a model learnt to use position? Scores of two kinds of head that need it, each with a null.

A model that hasn't extrapolates whatever its encoding, so these come before any comparison. Keys
at one fixed distance are one dot product per query: everything here takes time and memory O(N).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer
from torch import Tensor

from viz_core import texts
from viz_core.errors import LengthError
from viz_core.subject import Subject
from viz_core.trace import Trace, trace
from viz_core.words import say

PERIOD, COPIES, SEEDS = 25, 4, 10  # the sequences of `induction`
TIMES = 5  # a score counts from this multiple of its baseline
GAIN = 0.2  # nats per token that a long context must be worth
EARLY, LATE = "1-15", "256-511"  # bins of a checkpoint's `loss_by_position`

Array = npt.NDArray[np.float64]


class Best(NamedTuple):
    """The head with the largest score; layer and head are counted from 0."""

    value: float
    layer: int
    head: int


@dataclass(frozen=True)
class Score:
    """Mean probabilities [layer, head], and what uniform attention would have in their place."""

    value: Array
    baseline: float

    @property
    def best(self) -> Best:
        """The largest of all heads; the first of equal ones."""
        layer, head = np.unravel_index(int(self.value.argmax()), self.value.shape)
        return Best(float(self.value[layer, head]), int(layer), int(head))

    @property
    def found(self) -> bool:
        """Whether the best head has at least TIMES the baseline."""
        return self.best.value >= TIMES * self.baseline


@dataclass(frozen=True)
class Gate:
    """What says that a model uses position; `passed` is None where its losses aren't known.

    Losses are nats per token at positions 1-15 and 256-511, from the checkpoint's own facts.
    """

    previous: Score
    induction: Score
    early: float | None
    late: float | None
    passed: bool | None


def offset_scan(trace: Trace, offsets: Sequence[int]) -> tuple[Array, Array]:
    """Mean of A[i, i - t] over queries i >= t, for each t of `offsets`, and its uniform baseline.

    Returns ([layer, head, offset], mean of 1 / (i + 1) [offset]). LengthError for an offset that
    no query of the text reaches.
    """
    n = trace.length
    for t in offsets:
        if not 0 <= t < n:
            raise LengthError(
                say(
                    "Expected offsets from 0 to {last:,}, in a text of {length:,}; got {offset}.",
                    last=n - 1,
                    length=n,
                    offset=t,
                )
            )
    values = [
        [_at_distance(trace, layer, t).mean(-1).tolist() for t in offsets]
        for layer in range(len(trace.layers))
    ]
    baseline = [float((1 / np.arange(t + 1, n + 1)).mean()) for t in offsets]
    return np.array(values).swapaxes(1, 2), np.array(baseline)


def previous_token(trace: Trace) -> Score:
    """Mean of A[i, i - 1] over i >= 1: near 1 for a head that looks at the token before.

    Without any encoding one layer can't do that exactly, for tokens that repeat look the same
    (Barbero et al. 2024, Proposition 5.2). With ALiBi's steep slopes the bias alone scores high.
    """
    value, baseline = offset_scan(trace, [1])
    return Score(value[..., 0], float(baseline[0]))


def induction(model: Subject, tokenizer: Tokenizer, seeds: int = SEEDS) -> Score:
    """Prefix matching (Olsson et al. 2022): looking at what followed earlier copies of a token.

    PERIOD random tokens COPIES times, without the marks that are no content, after the special
    tokens that begin a text. For each query from the second copy on, the probabilities of the
    tokens after its earlier copies (distances 25 r - 1) add up; the baseline is their number /
    (i + 1). Means over queries and sequences.
    LengthError where the encoding ends before PERIOD x COPIES tokens.
    """
    before, after = texts.around(tokenizer)
    first, size = len(before), len(before) + PERIOD
    drawn = texts.passages(texts.RANDOM, size + len(after), seeds, tokenizer)
    copies = [[*before, *p.ids[first:size] * COPIES] for p in drawn]
    return mean([_prefix_matching(trace(model, ids), PERIOD, first) for ids in copies])


def mean(scores: Sequence[Score]) -> Score:
    """The mean over texts, of the scores and of their baselines."""
    value = np.mean([s.value for s in scores], axis=0)
    return Score(value, float(np.mean([s.baseline for s in scores])))


def gate(previous: Score, induction: Score, losses: Mapping[str, float] | None) -> Gate:
    """Whether the model uses position: such a head exists, and a long context lowers its loss.

    Either score is at least TIMES its baseline, and the loss at positions 256-511 is more than
    GAIN nats below that at 1-15. `losses` is the checkpoint's `loss_by_position`, by bin.
    """
    early, late = ((losses or {}).get(name) for name in (EARLY, LATE))
    passed: bool | None = previous.found or induction.found
    if early is not None and late is not None:
        passed = passed and late < early - GAIN
    elif passed:
        passed = None
    return Gate(previous, induction, early, late, passed)


def _at_distance(trace: Trace, layer: int, distance: int) -> Tensor:
    """A[i, i - distance] for queries i = distance .. N - 1: [head, query]."""
    q, k, lse = trace.take(layer)
    n = trace.length
    dot = (q[:, distance:] * k[:, : n - distance]).sum(-1)
    bias = trace.strip(layer)[:, n - 1 - distance, None]
    probability: Tensor = (trace.logits(layer, dot) + bias - lse[:, distance:]).exp()
    return probability


def _prefix_matching(passed: Trace, period: int, first: int) -> Score:
    """The score of one text that repeats after `period` tokens from `first` on, from its second
    copy on."""
    n = passed.length - first
    steps = range(period, n, period)
    total = [
        sum(
            _at_distance(passed, layer, s - 1)[:, 1 + first :].sum(-1).cpu().double().numpy()
            for s in steps
        )
        for layer in range(len(passed.layers))
    ]
    query = np.arange(period, n)
    baseline = query // period / (query + first + 1)
    return Score(np.stack(total) / len(query), float(baseline.mean()))
