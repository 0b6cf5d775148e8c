"""Token ids out of a text or out of chance: no more of it is tokenized than is used."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

import numpy as np
from tokenizers import Tokenizer

from viz_core.errors import TextError
from viz_core.texts.sources import PERIOD, RANDOM
from viz_core.words import say

# Ends of words and of the text: our BPE has no piece across one, so a cut there alters no token.
_CUT = re.compile(r"(?<=\S)(?=[ \n])|\Z")


@lru_cache(maxsize=32)
def around(tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The tokens that `tokenizer` puts (before, after) every text; none for most models."""
    for n in range(8):  # of pieces that may be there, the first that is a text
        text = "a0"[n] if n < 2 else tokenizer.id_to_token(n) or ""
        try:
            plain = tokenizer.encode(text, add_special_tokens=False).ids
            whole = tokenizer.encode(text, add_special_tokens=True).ids
        except Exception:  # the library has no class for a piece without a number
            continue
        more = len(whole) - len(plain)
        for first in range(more + 1) if plain else ():
            last = first + len(plain)
            if whole[first:last] == plain:
                return tuple(whole[:first]), tuple(whole[last:])
    return (), ()


@lru_cache(maxsize=128)  # more than a mean is taken over
def first(text: str, count: int, tokenizer: Tokenizer) -> tuple[int, ...]:
    """The first `count` tokens of `text`, or as many as it has. Raises TextError."""
    ids, end = list[int](), 0
    while end < len(text):  # no more characters than it takes
        end = next(_CUT.finditer(text, max(2 * end, 3 * count))).start()
        try:
            ids = tokenizer.encode(text[:end], add_special_tokens=False).ids
        except Exception:  # the library has no class for a piece without a number
            raise TextError(
                say(
                    "Expected token numbers such as 17 4 8: this checkpoint comes without a "
                    "tokenizer, or with one that lacks a piece of the text. Choose random tokens, "
                    "or give numbers."
                )
            ) from None
        if len(ids) >= count:
            break
    return tuple(ids[:count])


def spread(text: str, length: int, count: int, tokenizer: Tokenizer) -> list[tuple[int, ...]]:
    """Starts of `count` equal parts of the text; of its tokens where such a part is too short."""
    ends = (next(_CUT.finditer(text, i * len(text) // count)) for i in range(1, count))
    cuts = [0, *(end.start() for end in ends), len(text)]
    parts = [first(text[a:b], length, tokenizer) for a, b in pairwise(cuts)]
    if min(map(len, parts)) == length:
        return parts
    ids = first(text, 4 * len(text), tokenizer)  # a character is 4 bytes at most: all of them
    n = min(count, len(ids) // length)
    places = [i * (len(ids) - length) // max(n - 1, 1) for i in range(n)]
    return [ids[p : p + length] for p in places]


def drawn(text_id: str, length: int, tokenizer: Tokenizer, seed: int) -> list[int]:
    """`length` tokens by chance, others for each `seed`; REPEATED starts again after PERIOD."""
    marks = list(tokenizer.get_added_tokens_decoder())  # the end of a text, say, is no content
    words = np.setdiff1d(np.arange(tokenizer.get_vocab_size()), marks)
    size = length if text_id == RANDOM else PERIOD
    places = np.random.default_rng((20240, seed)).integers(0, len(words), size)
    return [int(i) for i in np.resize(words[places], length)]
