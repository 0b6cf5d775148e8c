"""Training sequences that make far context matter: text, text with a copy of its own, repetition.

A passage that comes back can be predicted from its first occurrence alone, however far that lies.
A model finds that out on short sequences of short periods; then it keeps it on long ones, as long
as some of both kinds stay among plain text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from viz_core.errors import TextError
from viz_core.training.batches import Ids, windows
from viz_core.words import say

COPIES = (16, 128)  # tokens of a copied passage, at most a third of its sequence


@dataclass(frozen=True)
class Stage:
    """So many tokens in sequences of one length, and which of these aren't plain text.

    `periodic`: the share of sequences that repeat a passage of `periods` tokens to their end, half
    of them one of the text and half one of tokens drawn from all over it; `copied`: the share of
    those with a second occurrence of a passage.
    """

    length: int
    batch: int
    tokens: int
    periodic: float = 0.0
    copied: float = 0.0
    periods: tuple[int, int] = (8, 200)

    @property
    def steps(self) -> int:
        """How many batches it takes."""
        return -(-self.tokens // (self.length * self.batch))


class Mixture:
    """The sequences of all stages by step, from 0. No state: any order; equal for every encoding.

    Raises TextError for a text shorter than one of its sequences.
    """

    def __init__(self, ids: Ids, stages: Sequence[Stage], seed: int, budget: float = 1.0) -> None:
        self.ids, self.seed = ids, seed
        self.stages = tuple(replace(s, tokens=round(budget * s.tokens)) for s in stages)
        self.steps = sum(stage.steps for stage in self.stages)
        longest = max(stage.length for stage in self.stages)
        if len(ids) < 2 * longest + 1:
            raise TextError(
                say(
                    "Expected text of at least {least:,} tokens; got {tokens:,}, so give more text "
                    "or a smaller recipe.",
                    least=2 * longest + 1,
                    tokens=len(ids),
                )
            )
        self._order = lru_cache(maxsize=2)(self._shuffled)

    def __getitem__(self, step: int) -> Tensor:
        """The sequences of a step: [batch, length + 1], int64."""
        return self._drawn(step)[0]

    def seen(self, step: int) -> tuple[int, int]:
        """(tokens that a step predicts, those of them that are plain text and no copy)."""
        rows, natural = self._drawn(step)
        return rows[:, 1:].numel(), natural

    def _drawn(self, step: int) -> tuple[Tensor, int]:
        number, within = 0, step
        while within >= self.stages[number].steps:
            within -= self.stages[number].steps
            number += 1
        stage, chance = self.stages[number], np.random.default_rng((self.seed, step))
        repeated, copied = (round(s * stage.batch) for s in (stage.periodic, stage.copied))
        plain, size = stage.batch - repeated, stage.length + 1
        rows = [self._periodic(stage, chance) for _ in range(repeated)]
        rows += [self._text(number, within * plain + i, size) for i in range(plain)]
        natural = plain * stage.length
        for row in rows[repeated : repeated + copied]:
            natural -= _copy(row, chance)
        return torch.from_numpy(np.stack(rows)), natural

    def _periodic(self, stage: Stage, chance: np.random.Generator) -> npt.NDArray[np.int64]:
        size = stage.length + 1
        period = int(chance.integers(stage.periods[0], stage.periods[1] + 1))
        if chance.random() < 0.5:
            start = int(chance.integers(len(self.ids) - period))
            passage = self.ids[start : start + period]
        else:
            passage = self.ids[chance.integers(len(self.ids), size=period)]
        begin = int(chance.integers(period))
        return np.resize(np.roll(passage, -begin), size).astype(np.int64)

    def _text(self, number: int, place: int, size: int) -> npt.NDArray[np.int64]:
        """The piece of text at `place` of a stage: each token once in a pass, then cut anew."""
        per_pass = (len(self.ids) - size) // (size - 1)
        turn, at = divmod(place, per_pass)
        offset, order = self._order(number, turn, per_pass, size - 1)
        start = offset + int(order[at]) * (size - 1)
        return windows(self.ids, np.array([start]), size)[0].numpy()

    def _shuffled(
        self, number: int, turn: int, count: int, length: int
    ) -> tuple[int, npt.NDArray[np.int64]]:
        chance = np.random.default_rng((self.seed, number, turn, 1))
        return int(chance.integers(length)), chance.permutation(count)


def _copy(row: npt.NDArray[np.int64], chance: np.random.Generator) -> int:
    """Lets a passage of `row` come back further on, in place; returns how long it is."""
    longest = min(COPIES[1], len(row) // 3)
    count = int(chance.integers(min(COPIES[0], longest), longest + 1))
    gap = int(chance.integers(count, len(row) - count + 1))
    start = int(chance.integers(len(row) - gap - count + 1))
    row[start + gap : start + gap + count] = row[start : start + count]
    return count


def held_out_copies(
    ids: Ids, length: int, gap: int, count: int, seed: int
) -> tuple[Tensor, slice, slice]:
    """Held-out windows in which a passage comes back `gap` tokens on, the same for every model.

    Returns (sequences [count, length + 1], targets of the first occurrence, those of the second);
    a target is counted from the second token on, as losses are, and stands at least a few tokens
    into its passage.
    """
    size = min(64, gap, (length + 1 - gap))
    start = (length + 1 - gap - size) // 2
    places = np.random.default_rng((seed, gap)).integers(len(ids) - length - 1, size=count)
    rows = windows(ids, places, length + 1)
    rows[:, start + gap : start + gap + size] = rows[:, start : start + size].clone()
    known = min(8, size // 2)  # tokens of the copy that say which passage it is
    first = slice(start + known - 1, start + size - 1)
    return rows, first, slice(first.start + gap, first.stop + gap)
