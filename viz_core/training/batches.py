"""The same sequences in the same order for every encoding: fixed by corpus, tokenizer and seed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import Tensor

from viz_core.errors import TextError
from viz_core.training.tokenizer import END
from viz_core.words import say

Ids = npt.NDArray[np.uint16]


def encode(tokenizer: Tokenizer, texts: Iterable[str], path: Path) -> Ids:
    """All texts as one row of token ids, an END after each; kept at `path` and read from there."""
    if not path.exists():
        end = tokenizer.token_to_id(END)
        parts = [np.array([*tokenizer.encode(t).ids, end], dtype=np.uint16) for t in texts]
        partial = path.with_suffix(".partial.npy")
        np.save(partial, np.concatenate(parts))
        partial.replace(path)
    ids: Ids = np.load(path, mmap_mode="r")
    return ids


class Batches:
    """Training sequences of length + 1 tokens: random offset, cut, shuffled anew in each pass."""

    def __init__(self, ids: Ids, length: int, batch: int, passes: int, seed: int) -> None:
        self.ids, self.length, self.batch, self.seed = ids, length, batch, seed
        self.per_pass = (len(ids) - length - 1) // length // batch
        self.steps = self.per_pass * passes
        if self.steps < 1:
            raise TextError(
                say(
                    "Expected text for at least one batch of {batch} x {length} tokens; got "
                    "{tokens:,} tokens, so give more text or a smaller recipe.",
                    batch=batch,
                    length=length,
                    tokens=len(ids),
                )
            )

    def __getitem__(self, step: int) -> Tensor:
        """The sequences of `step` (from 0): [batch, length + 1], int64. No state: any order."""
        turn, place = divmod(step, self.per_pass)
        chance = np.random.default_rng((self.seed, turn))
        offset = int(chance.integers(self.length))  # where cuts fall changes from pass to pass
        order = chance.permutation(self.per_pass * self.batch)
        starts = offset + order[place * self.batch : (place + 1) * self.batch] * self.length
        return windows(self.ids, starts, self.length + 1)

    def seen(self, step: int) -> tuple[int, int]:
        """(tokens that a step predicts, those of them that are plain text): all."""
        return self.batch * self.length, self.batch * self.length


def held_out(ids: Ids, length: int, count: int, seed: int) -> Tensor:
    """`count` windows of length + 1 held-out tokens at random offsets, the same for every model.

    Random offsets make position in the window independent of what the text says there.
    """
    if len(ids) <= length + 1:
        raise TextError(
            say(
                "Expected more than {least:,} held-out tokens; got {tokens:,}, so give more text.",
                least=length + 1,
                tokens=len(ids),
            )
        )
    starts = np.random.default_rng(seed).integers(len(ids) - length - 1, size=count)
    return windows(ids, starts, length + 1)


def windows(ids: Ids, starts: npt.NDArray[np.int64], size: int) -> Tensor:
    """ids[start : start + size] for each start: [window, size], int64."""
    return torch.from_numpy(np.stack([ids[s : s + size] for s in starts]).astype(np.int64))
