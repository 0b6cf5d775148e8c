"""The texts that can be looked at: shipped, drawn by chance, held out, or pasted by a person."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tokenizers import Tokenizer

from viz_core.errors import LengthError, TextError
from viz_core.texts import cuts
from viz_core.texts.choices import TextChoice, available
from viz_core.texts.labels import pieces
from viz_core.texts.sources import (
    HELD_OUT,
    MANUAL,
    PASTED,
    PERIOD,
    PROSE,
    RANDOM,
    REPEATED,
    held_out,
    words_of,
)
from viz_core.types import SPAN, Sample
from viz_core.words import say

__all__ = [
    "HELD_OUT",
    "MANUAL",
    "PASTED",
    "PERIOD",
    "PROSE",
    "RANDOM",
    "REPEATED",
    "Passage",
    "TextChoice",
    "available",
    "passages",
    "pieces",
    "samples",
    "tokens",
]


@dataclass(frozen=True)
class Passage:
    """Token ids as used, their sha256 (little-endian uint32), and a sentence if they fall short,
    in the language spoken where they were asked for.

    `own`: someone's own text; nothing that is computed from it goes to disk.
    """

    ids: list[int]
    sha256: str
    note: str = ""
    own: bool = False


def tokens(
    text_id: str,
    length: int,
    tokenizer: Tokenizer,
    pasted: str = "",
    start: int = 0,
    repeat: bool = False,
) -> Passage:
    """`length` tokens of a text from token `start` on; fewer, with a note, where it is shorter.

    With `repeat` a short text is repeated to the length; the text "pasted" is `pasted`. Raises
    LengthError for a length or start that is none, TextError for a text without tokens there,
    UnknownName for one that isn't there, CorpusError for damaged held-out documents.
    """
    if length < 1 or start < 0:
        raise LengthError(
            say(
                "Expected at least 1 token, from 0 on; got {length:,} from {start:,}.",
                length=length,
                start=start,
            )
        )
    if text_id in (RANDOM, REPEATED):
        return _passage(cuts.drawn(text_id, start + length, tokenizer, seed=0)[start:])
    every = cuts.first(words_of(text_id, pasted)[0], start + length, tokenizer)
    ids = every[start:]
    if not ids:
        raise TextError(
            say(
                "Expected a start within {tokens:,} tokens of text; got {start:,}.",
                tokens=len(every),
                start=start,
            )
        )
    own = text_id == PASTED
    if len(ids) == length:
        return _passage(ids, own=own)
    used = (ids * (length // len(ids) + 1))[:length] if repeat else ids
    return _passage(used, _short(len(ids), length, start, repeat), own)


def _short(count: int, length: int, start: int, repeat: bool) -> str:
    """The note of a passage for which a text has `count` tokens, where `length` were asked for."""
    have = say("1 token") if count == 1 else say("{count:,} tokens", count=count)
    facts = {"have": have, "length": length, "start": start}
    match start > 0, repeat:
        case True, True:
            return say(
                "The text has {have} from token {start:,} on, fewer than {length:,}: "
                "it is repeated up to that length.",
                **facts,
            )
        case True, False:
            return say(
                "The text has {have} from token {start:,} on, fewer than {length:,}: "
                "all of it is used.",
                **facts,
            )
        case False, True:
            return say(
                "The text has {have}, fewer than {length:,}: it is repeated up to that length.",
                **facts,
            )
    return say("The text has {have}, fewer than {length:,}: all of it is used.", **facts)


def passages(
    text_id: str, length: int, count: int, tokenizer: Tokenizer, pasted: str = ""
) -> list[Passage]:
    """`count` passages of `length` tokens from evenly spaced places of a text, not overlapping.

    "heldout" takes the starts of as many documents, random tokens another seed each. Where fewer
    fit, as many as do, at least one, with a note on the last. Raises as `tokens` does.
    """
    if length < 1 or count < 1:
        raise LengthError(
            say(
                "Expected 1 passage of 1 token or more; got {count:,} of {length:,}.",
                count=count,
                length=length,
            )
        )
    if text_id in (RANDOM, REPEATED):
        return [_passage(cuts.drawn(text_id, length, tokenizer, seed)) for seed in range(count)]
    every = words_of(text_id, pasted)
    if text_id == HELD_OUT:
        n = min(count, len(every))
        starts = [every[i * len(every) // n] for i in range(n)]
        found = [replace(tokens(PASTED, length, tokenizer, text), own=False) for text in starts]
    else:
        found = [_passage(ids) for ids in cuts.spread(every[0], length, count, tokenizer)]
        found = found or [tokens(text_id, length, tokenizer, pasted)]
    if len(found) < count:
        if text_id == HELD_OUT:
            note = say(
                "There are fewer than {count} held-out documents: the mean is over {found}.",
                count=count,
                found=len(found),
            )
        else:
            note = say(
                "There are fewer than {count} times {length:,} tokens: the mean is over {found}.",
                count=count,
                length=length,
                found=len(found),
            )
        found[-1] = replace(found[-1], note=found[-1].note or note)
    return found


def samples(
    text_id: str, longest: int, tokenizer: Tokenizer, count: int | None = None, pasted: str = ""
) -> list[Sample]:
    """The starts of long documents, for losses at up to `longest` tokens: SPAN + 1 tokens of each.

    "heldout" gives the documents that are long enough (or `count` of them, from evenly spaced
    places of their list); any other text is cut into passages, at most `count` (default 8), of
    longest + 1 tokens where it has none of SPAN + 1. Raises LengthError, with the largest length
    that works, where nothing is long enough; and as `passages` does.
    """
    size = max(SPAN, longest) + 1
    if text_id == HELD_OUT:
        words_of(HELD_OUT, "")  # raises where there are none
        found = [
            Sample(d.id, d.source, cuts.first(d.text, size, tokenizer), "") for d in held_out()
        ]
    else:
        for wanted in (size, longest + 1):
            parts = passages(text_id, wanted, count or 8, tokenizer, pasted)
            found = [
                Sample(f"{text_id}/{i + 1}", text_id, tuple(p.ids), "") for i, p in enumerate(parts)
            ]
            if len(found[0].ids) == wanted:
                break
    long = [s for s in found if len(s.ids) > longest]
    if not long:
        most = max(len(s.ids) for s in found) - 1
        raise LengthError(
            say(
                "Expected a text of more than {longest:,} tokens; the longest part of {text} has "
                "{size:,}, so choose lengths of at most {most:,}.",
                longest=longest,
                text=text_id,
                size=most + 1,
                most=most,
            ),
            most,
        )
    n = min(count or len(long), len(long))
    chosen = [long[i * len(long) // n] for i in range(n)]
    least = min(len(s.ids) for s in chosen)  # protocols place their tokens alike in all
    return [replace(s, ids=s.ids[:least], sha256=_passage(s.ids[:least]).sha256) for s in chosen]


def _passage(ids: Sequence[int], note: str = "", own: bool = False) -> Passage:
    sha256 = hashlib.sha256(np.array(ids, "<u4").tobytes()).hexdigest()
    return Passage(list(ids), sha256, note, own)
