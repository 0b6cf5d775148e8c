"""What checkpoints read: the same text, each in the tokens of its own tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from tokenizers import Tokenizer

from pages._shared import loaded
from viz_core import texts
from viz_core.catalogue import Checkpoint
from viz_core.errors import TextError
from viz_core.words import say

T = TypeVar("T")


def each(
    chosen: Sequence[Checkpoint], text: str, read: Callable[[Tokenizer], T], own: str = ""
) -> list[T]:
    """`read(tokenizer)` for each of `chosen`, once for all that share a tokenizer.

    `text` is the id of what is read, `own` a person's own text. Raises TextError where a checkpoint
    came without its tokenizer and the text isn't one of token numbers; and as `read` does.
    """
    tokenizers, found = [_fit(one, text, own) for one in chosen], dict[int, T]()
    for pieces in tokenizers:
        if id(pieces) not in found:
            found[id(pieces)] = read(pieces)
    return [found[id(pieces)] for pieces in tokenizers]


def one(checkpoint: Checkpoint, text: str, read: Callable[[Tokenizer], T], own: str = "") -> T:
    """`each` for a single checkpoint."""
    return each([checkpoint], text, read, own)[0]


def _fit(checkpoint: Checkpoint, text: str, own: str) -> Tokenizer:
    """The tokenizer of `checkpoint`, once it is known that it can read the text."""
    if checkpoint.numbered and text not in (texts.RANDOM, texts.REPEATED):
        size = checkpoint.config.vocabulary
        known = loaded.tokenizer(checkpoint).token_to_id
        if text != texts.PASTED or not all(known(word) is not None for word in own.split()):
            raise TextError(
                say(
                    "Expected a tokenizer to cut this text for {id}, which came without one: "
                    "choose random or repeated tokens, give token numbers from 0 to {last:,} as "
                    "your own text, or upload it again with its tokenizer.json.",
                    id=checkpoint.id,
                    last=size - 1,
                )
            )
    return loaded.tokenizer(checkpoint)
