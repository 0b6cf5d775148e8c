"""The texts that can be looked at: shipped, drawn by chance, held out, or pasted by a person."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from viz_core.errors import LengthError, TextError, UnknownName
from viz_core.training.corpus import Document, corpus_folder, documents
from viz_core.training.tokenizer import END
from viz_core.types import SPAN, Sample

MANUAL, PROSE, RANDOM, REPEATED, PASTED = "python-docs", "prose", "random", "repeated", "pasted"
HELD_OUT, PERIOD = "heldout", 64  # PERIOD: tokens that `repeated` repeats
_WORKS = {"austen": "Jane Austen", "mhcc": "Matthew Henry", "sotu": "State of the Union"}
_WORKS |= {"tdavid": "The Treasury of David", "web": "English Bible"}  # edited: not by its own name
# Ends of words and of the text: our BPE has no piece across one, so a cut there alters no token.
_CUT = re.compile(r"(?<=\S)(?=[ \n])|\Z")
# Byte-level BPE writes each byte as one printable character: itself, or the next beyond 255.
_SELF = [*range(33, 127), *range(161, 173), *range(174, 256)]
_NEXT = [b for b in range(256) if b not in _SELF]
_BYTES = {chr(b): b for b in _SELF} | {chr(256 + n): b for n, b in enumerate(_NEXT)}
_SHOWN = {" ": "·", "▁": "·", "\n": "↵", "\t": "⇥", "\r": "␍"}


@dataclass(frozen=True)
class TextChoice:
    """One entry of the list of texts."""

    id: str
    title: str
    about: str


@dataclass(frozen=True)
class Passage:
    """Token ids as used, their sha256 (little-endian uint32), and a sentence if they fall short.

    `own`: someone's own text; nothing that is computed from it goes to disk.
    """

    ids: list[int]
    sha256: str
    note: str = ""
    own: bool = False


def available(corpus: Path | None = None) -> list[TextChoice]:
    """All texts by name, with the held-out ones in the folder `corpus`. CorpusError if damaged."""
    found = [
        TextChoice(MANUAL, "Python manual", "Python's language reference, 465,000 characters."),
        TextChoice(PROSE, "A page of prose", "An essay written for this project."),
        TextChoice(RANDOM, "Random tokens", "Seeded, without any order: no content to follow."),
        TextChoice(REPEATED, "Repeated tokens", f"{PERIOD} random tokens, again and again."),
    ]
    if held := _held_out(corpus):
        found.append(TextChoice(HELD_OUT, "Held-out documents", "The starts of several of them."))
    for d in held:
        name = re.sub("[-_](.$)?", " ", d.id.rpartition("/")[2]).strip().title()  # less the party
        title = f"{_WORKS.get(d.source, d.source)}: {name} (held out)"
        found.append(TextChoice(f"{HELD_OUT}/{d.id}", title, f"{len(d.text):,} characters."))
    return found


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
        raise LengthError(f"Expected at least 1 token, from 0 on; got {length:,} from {start:,}.")
    if text_id in (RANDOM, REPEATED):
        return _passage(_drawn(text_id, start + length, tokenizer, seed=0)[start:])
    every = _first(_sources(text_id, pasted)[0], start + length, tokenizer)
    ids = every[start:]
    if not ids:
        raise TextError(f"Expected a start within {len(every):,} tokens of text; got {start:,}.")
    own = text_id == PASTED
    if len(ids) == length:
        return _passage(ids, own=own)
    what = f"{len(ids):,} token{'s' * (len(ids) > 1)}" + f" from token {start:,} on" * (start > 0)
    used = (ids * (length // len(ids) + 1))[:length] if repeat else ids
    end = "it is repeated up to that length" if repeat else "all of it is used"
    return _passage(used, f"The text has {what}, fewer than {length:,}: {end}.", own)


def passages(
    text_id: str, length: int, count: int, tokenizer: Tokenizer, pasted: str = ""
) -> list[Passage]:
    """`count` passages of `length` tokens from evenly spaced places of a text, not overlapping.

    "heldout" takes the starts of as many documents, random tokens another seed each. Where fewer
    fit, as many as do, at least one, with a note on the last. Raises as `tokens` does.
    """
    if length < 1 or count < 1:
        raise LengthError(f"Expected 1 passage of 1 token or more; got {count:,} of {length:,}.")
    if text_id in (RANDOM, REPEATED):
        return [_passage(_drawn(text_id, length, tokenizer, seed)) for seed in range(count)]
    every = _sources(text_id, pasted)
    if text_id == HELD_OUT:
        n = min(count, len(every))
        starts = [every[i * len(every) // n] for i in range(n)]
        found = [replace(tokens(PASTED, length, tokenizer, text), own=False) for text in starts]
    else:
        found = [_passage(ids) for ids in _spread(every[0], length, count, tokenizer)]
        found = found or [tokens(text_id, length, tokenizer, pasted)]
    if len(found) < count:
        what = "held-out documents" if text_id == HELD_OUT else f"times {length:,} tokens"
        note = f"There are fewer than {count} {what}: the mean is over {len(found)}."
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
        _sources(HELD_OUT, "")  # raises where there are none
        found = [Sample(d.id, d.source, _first(d.text, size, tokenizer), "") for d in _held_out()]
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
            f"Expected a text of more than {longest:,} tokens; the longest part of {text_id} has "
            f"{most + 1:,}, so choose lengths of at most {most:,}.",
            most,
        )
    n = min(count or len(long), len(long))
    chosen = [long[i * len(long) // n] for i in range(n)]
    least = min(len(s.ids) for s in chosen)  # protocols place their tokens alike in all
    return [replace(s, ids=s.ids[:least], sha256=_passage(s.ids[:least]).sha256) for s in chosen]


def pieces(ids: Sequence[int], tokenizer: Tokenizer) -> list[str]:
    """A readable label per token, no HTML: whitespace visible, bytes of no character as ⟨E2⟩."""
    labels = {i: _label(tokenizer.id_to_token(i)) for i in set(ids)}
    return [labels[i] for i in ids]


def _label(piece: str | None) -> str:
    if piece is None or piece == END:
        return "⟨end⟩" if piece else "⟨?⟩"
    if all(c in _BYTES for c in piece):  # other kinds of tokenizer have pieces as they read
        piece = bytes(_BYTES[c] for c in piece).decode("utf-8", "surrogateescape")
    codes = {c: c.encode("utf-8", "surrogateescape").hex(" ").upper() for c in piece}
    return "".join(_SHOWN.get(c) or (c if c.isprintable() else f"⟨{codes[c]}⟩") for c in piece)


def _passage(ids: Sequence[int], note: str = "", own: bool = False) -> Passage:
    sha256 = hashlib.sha256(np.array(ids, "<u4").tobytes()).hexdigest()
    return Passage(list(ids), sha256, note, own)


def _drawn(text_id: str, length: int, tokenizer: Tokenizer, seed: int) -> list[int]:
    marks = list(tokenizer.get_added_tokens_decoder())  # the end of a text, say, is no content
    words = np.setdiff1d(np.arange(tokenizer.get_vocab_size()), marks)
    size = length if text_id == RANDOM else PERIOD
    places = np.random.default_rng((20240, seed)).integers(0, len(words), size)
    return [int(i) for i in np.resize(words[places], length)]


def _spread(text: str, length: int, count: int, tokenizer: Tokenizer) -> list[tuple[int, ...]]:
    """Starts of `count` equal parts of the text; of its tokens where such a part is too short."""
    ends = (next(_CUT.finditer(text, i * len(text) // count)) for i in range(1, count))
    cuts = [0, *(end.start() for end in ends), len(text)]
    parts = [_first(text[a:b], length, tokenizer) for a, b in pairwise(cuts)]
    if min(map(len, parts)) == length:
        return parts
    ids = _first(text, 4 * len(text), tokenizer)  # a character is 4 bytes at most: all of them
    n = min(count, len(ids) // length)
    places = [i * (len(ids) - length) // max(n - 1, 1) for i in range(n)]
    return [ids[p : p + length] for p in places]


@lru_cache(maxsize=128)  # more than a mean is taken over
def _first(text: str, count: int, tokenizer: Tokenizer) -> tuple[int, ...]:
    ids, end = list[int](), 0
    while end < len(text):  # no more characters than it takes
        end = next(_CUT.finditer(text, max(2 * end, 3 * count))).start()
        try:
            ids = tokenizer.encode(text[:end], add_special_tokens=False).ids
        except Exception:  # the library has no class for a piece without a number
            raise TextError(
                "Expected token numbers such as 17 4 8: this checkpoint comes without a tokenizer, "
                "or with one that lacks a piece of the text. Choose random tokens, or give numbers."
            ) from None
        if len(ids) >= count:
            break
    return tuple(ids[:count])


def _sources(text_id: str, pasted: str) -> list[str]:
    if text_id == MANUAL:
        from pydoc_data.topics import topics  # half a megabyte: read when asked for

        found = ["\n".join(topics[name] for name in sorted(topics))]
    elif text_id == PROSE:
        found = [Path(__file__).with_name("prose.txt").read_text("utf-8")]
    elif text_id.partition("/")[0] == HELD_OUT:
        if not (held := _held_out()):
            raise TextError("Expected held-out documents; there are none. Run `make corpus` first.")
        found = [d.text for d in held if text_id in (HELD_OUT, f"{HELD_OUT}/{d.id}")]
    else:
        found = [pasted] if text_id == PASTED else []
    if not found:
        raise UnknownName("a text", text_id, [MANUAL, PROSE, RANDOM, REPEATED, f"or {HELD_OUT}/ID"])
    if not found[0].strip():
        raise TextError("Expected a text; this one is empty. Paste some words, or choose another.")
    return found


def _held_out(corpus: Path | None = None) -> tuple[Document, ...]:
    path = (corpus or corpus_folder()) / "heldout.jsonl"
    return _documents(path, path.stat().st_mtime_ns) if path.is_file() else ()


@lru_cache(maxsize=2)
def _documents(path: Path, changed: int) -> tuple[Document, ...]:
    return tuple(documents(path))
