"""The texts that can be looked at: shipped, drawn by chance, held out, or pasted by a person."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tokenizers import Tokenizer

from viz_core.errors import LengthError, TextError
from viz_core.texts import cuts
from viz_core.texts.choices import TextChoice, available
from viz_core.texts.cuts import around
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
    "around",
    "available",
    "passages",
    "pieces",
    "samples",
    "tokens",
]


_END = (1 << 32) - 1  # no token: between those before a text and the text, in a hash
Ends = tuple[tuple[int, ...], tuple[int, ...]]  # special tokens (before, after) a text


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

    They begin and end as `tokenizer` has it, with special tokens that count; a text that holds
    those itself isn't given them twice. With `repeat` a short text is repeated to the length; the
    text "pasted" is `pasted`. Raises LengthError for a length or start that is none, TextError for
    a text without tokens there, UnknownName for one that isn't there, CorpusError for damaged
    held-out documents.
    """
    ends = around(tokenizer)
    room = _room(length, ends)
    if start < 0:
        raise LengthError(say("Expected a start from 0 on; got {start:,}.", start=start))
    if text_id in (RANDOM, REPEATED):
        return _passage(cuts.drawn(text_id, start + room, tokenizer, seed=0)[start:], ends)
    before, after = ends
    every = cuts.first(words_of(text_id, pasted)[0], start + length, tokenizer)
    if start == 0 and every[: len(before)] == before:
        every = every[len(before) :]
    if after and every[-len(after) :] == after:
        every = every[: -len(after)]
    ids = every[start : start + room]
    if not ids:
        raise TextError(
            say(
                "Expected a start within {tokens:,} tokens of text; got {start:,}.",
                tokens=len(every),
                start=start,
            )
        )
    own = text_id == PASTED
    if len(ids) == room:
        return _passage(ids, ends, own=own)
    used = (ids * (room // len(ids) + 1))[:room] if repeat else ids
    note = _short(len(ids) + length - room, length, start, repeat)
    return _passage(used, ends, note, own)


def _room(length: int, ends: Ends) -> int:
    """How many of `length` tokens are the text's own. LengthError for none."""
    taken = len(ends[0]) + len(ends[1])
    if length <= taken:
        raise LengthError(
            say(
                "Expected {least:,} tokens or more; got a length of {length:,}.",
                least=taken + 1,
                length=length,
            )
        )
    return length - taken


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
    fit, as many as do, at least one, with a note on the last. They begin and end, and it raises, as
    `tokens` does.
    """
    ends = around(tokenizer)
    room = _room(length, ends)
    if count < 1:
        raise LengthError(
            say(
                "Expected 1 passage of 1 token or more; got {count:,} of {length:,}.",
                count=count,
                length=length,
            )
        )
    if text_id in (RANDOM, REPEATED):
        drawn = [cuts.drawn(text_id, room, tokenizer, seed) for seed in range(count)]
        return [_passage(ids, ends) for ids in drawn]
    every = words_of(text_id, pasted)
    if text_id == HELD_OUT:
        n = min(count, len(every))
        starts = [every[i * len(every) // n] for i in range(n)]
        found = [replace(tokens(PASTED, length, tokenizer, text), own=False) for text in starts]
    else:
        found = [_passage(ids, ends) for ids in cuts.spread(every[0], room, count, tokenizer)]
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
    before, after = around(tokenizer)
    taken = len(before) + len(after)
    size = max(SPAN, longest) + 1
    if text_id == HELD_OUT:
        words_of(HELD_OUT, "")  # raises where there are none
        found = [
            Sample(d.id, d.source, cuts.first(d.text, size, tokenizer), "") for d in held_out()
        ]
    else:
        for wanted in (size, longest + 1):
            parts = passages(text_id, wanted + taken, count or 8, tokenizer, pasted)
            own = [tuple(p.ids[len(before) : len(p.ids) - len(after)]) for p in parts]
            found = [Sample(f"{text_id}/{i + 1}", text_id, ids, "") for i, ids in enumerate(own)]
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
    mark = (*before, _END) if before else ()  # without such tokens, the hash of the text alone
    return [
        replace(s, ids=s.ids[:least], sha256=_sha256((*mark, *s.ids[:least])), before=before)
        for s in chosen
    ]


def _passage(
    ids: Sequence[int], ends: Ends = ((), ()), note: str = "", own: bool = False
) -> Passage:
    before, after = ends
    whole = [*before, *ids, *after]
    return Passage(whole, _sha256(whole), note, own)


def _sha256(ids: Sequence[int]) -> str:
    return hashlib.sha256(np.array(ids, "<u4").tobytes()).hexdigest()
