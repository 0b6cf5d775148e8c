"""The texts that can be looked at: always Python's own manual, a page of prose and random tokens;
the held-out documents once they are there; and whatever a person pastes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from viz_core.errors import TextError, UnknownName
from viz_core.training import corpus

HELD_OUT = "heldout"
MANUAL, PROSE, RANDOM, REPEATED, PASTED = "python-docs", "prose", "random", "repeated", "pasted"
PERIOD = 64  # tokens that `repeated` repeats
_BYTES_PER_TOKEN = 8  # more than any text here has on average: how far to read ahead
_MARGIN = 256  # characters cut off a prefix, whose last tokens the cut may have made


@dataclass(frozen=True)
class TextChoice:
    """One entry of the list of texts."""

    id: str
    title: str
    about: str


@dataclass(frozen=True)
class Passage:
    """Token ids as used, their sha256 (little-endian uint32), and a sentence if they fall short."""

    ids: list[int]
    sha256: str
    note: str = ""


def available(folder: Path | None = None) -> list[TextChoice]:
    """All texts by name, and the held-out documents if `folder` (the corpus) has them."""
    held = [
        TextChoice(
            f"{HELD_OUT}/{d.id}", f"{d.id} (held out)", f"Held-out document from {d.source}."
        )
        for d in _held_out(folder)
    ]
    every = [TextChoice(HELD_OUT, "Held-out documents", "One passage from each, in order.")]
    return [
        TextChoice(MANUAL, "Python manual", "Python's language reference, 465,000 characters."),
        TextChoice(PROSE, "A page of prose", "An essay written for this project."),
        TextChoice(RANDOM, "Random tokens", "Seeded, without any order: no content to follow."),
        TextChoice(REPEATED, "Repeated tokens", f"{PERIOD} random tokens, again and again."),
        *(every if held else []),
        *held,
    ]


def tokens(
    text_id: str,
    length: int,
    tokenizer: Tokenizer,
    pasted: str = "",
    start: int = 0,
    repeat: bool = False,
) -> Passage:
    """`length` tokens of a text from token `start` on; fewer, with a note, where it is shorter.

    With `repeat` a text that is too short is repeated to the length instead. "pasted" is `pasted`.
    Raises TextError for a text without tokens, UnknownName for one that isn't there.
    """
    if text_id in (RANDOM, REPEATED):
        return _passage(_drawn(text_id, length, tokenizer, start))
    ids = _encoded(_source(text_id, pasted, None), start + length, tokenizer)[
        start : start + length
    ]
    if not ids:
        raise TextError(
            "Expected a text; this one is empty. Paste some words, or choose another text."
        )
    if len(ids) == length:
        return _passage(ids)
    have = f"The text has {len(ids):,} tokens, fewer than {length:,}"
    if repeat:
        again = (list(ids) * (length // len(ids) + 1))[:length]
        return _passage(again, f"{have}: it is repeated up to that length.")
    return _passage(ids, f"{have}: all of it is used.")


def passages(
    text_id: str, length: int, count: int, tokenizer: Tokenizer, folder: Path | None = None
) -> list[Passage]:
    """`count` passages of `length` tokens from evenly spaced places of a text, not overlapping.

    "heldout" takes the start of each held-out document instead. A shorter text gives as many as
    fit, at least one, with a note on the last. Raises TextError and UnknownName as `tokens` does.
    """
    if text_id in (RANDOM, REPEATED):
        return [_passage(_drawn(text_id, length, tokenizer, seed)) for seed in range(count)]
    if text_id == HELD_OUT:
        found = _held_out(folder)[:count]
        if not found:
            raise TextError("Expected held-out documents; there are none. Run `make corpus` first.")
        return [tokens(f"{HELD_OUT}/{d.id}", length, tokenizer) for d in found]
    text = _source(text_id, "", folder)
    need = count * (length + _MARGIN) * _BYTES_PER_TOKEN
    if len(text) > need:  # long enough to cut by characters, which spares encoding it all
        places = [int(i * (len(text) - need / count) / max(count - 1, 1)) for i in range(count)]
        cut = [text[text.find(" ", p) : p + need // count] for p in places]
        return [_passage(_encoded(part, length, tokenizer)[:length]) for part in cut]
    ids = _encoded(text, len(text), tokenizer)
    if len(ids) < length:
        return [tokens(text_id, length, tokenizer)]
    fit = min(count, len(ids) // length)
    starts = [i * (len(ids) - length) // max(fit - 1, 1) for i in range(fit)]
    note = (
        f"The text has room for {fit} passages of {length:,} tokens, not {count}: the mean is "
        f"over {fit}."
    )
    cuts = [ids[s : s + length] for s in starts]
    return [_passage(c, note * (c is cuts[-1] and fit < count)) for c in cuts]


def pieces(ids: Sequence[int], tokenizer: Tokenizer) -> list[str]:
    """A readable label per token: whitespace visible, bytes of no character as ⟨E2⟩."""
    return [_label(tokenizer.id_to_token(i)) for i in ids]


def _label(piece: str | None) -> str:
    if piece is None:
        return "⟨?⟩"
    if piece == "<|endoftext|>":
        return "⟨end⟩"
    raw = bytes(_byte_of()[c] for c in piece)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:  # part of a character: each of its bytes by number
        text = "".join(f"⟨{b:02X}⟩" if b > 127 else chr(b) for b in raw)
    for plain, shown in ((" ", "·"), ("\n", "↵"), ("\t", "⇥"), ("\r", "␍")):
        text = text.replace(plain, shown)
    return text


@lru_cache(maxsize=1)
def _byte_of() -> dict[str, int]:
    """Byte-level BPE writes each byte as one printable character: which stands for which."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + n): b for n, b in enumerate(other)}


def _drawn(text_id: str, length: int, tokenizer: Tokenizer, seed: int) -> list[int]:
    chance = np.random.default_rng((20240, seed))
    size = tokenizer.get_vocab_size()
    count = length if text_id == RANDOM else PERIOD
    ids: list[int] = chance.integers(1, size, count).tolist()  # 0 is the end of a text
    return (ids * (length // count + 1))[:length]


def _source(text_id: str, pasted: str, folder: Path | None) -> str:
    always: dict[str, Callable[[], str]] = {MANUAL: _manual, PROSE: _prose}
    if text_id == PASTED:
        return pasted
    if text_id in always:
        return always[text_id]()
    for d in _held_out(folder):
        if text_id == f"{HELD_OUT}/{d.id}":
            return d.text
    raise UnknownName("a text", text_id, [*always, RANDOM, REPEATED, f"{HELD_OUT}/ID"])


@lru_cache(maxsize=64)
def _encoded(text: str, count: int, tokenizer: Tokenizer) -> tuple[int, ...]:
    """At least `count` tokens of `text` from its start, or all there are."""
    reach = count * _BYTES_PER_TOKEN + _MARGIN
    ids = tokenizer.encode(text[:reach], add_special_tokens=False).ids
    if len(ids) < count and reach < len(text):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
    return tuple(ids)


@lru_cache(maxsize=1)
def _manual() -> str:
    from pydoc_data.topics import topics  # half a megabyte: read when asked for

    return "\n".join(topics[name] for name in sorted(topics))


@lru_cache(maxsize=1)
def _prose() -> str:
    return (Path(__file__).parent / "prose.txt").read_text(encoding="utf-8")


def _held_out(folder: Path | None) -> tuple[corpus.Document, ...]:
    path = (folder or corpus.corpus_folder()) / "heldout.jsonl"
    return _documents(path, path.stat().st_mtime_ns) if path.is_file() else ()


@lru_cache(maxsize=2)
def _documents(path: Path, changed: int) -> tuple[corpus.Document, ...]:
    return tuple(corpus.documents(path))


def _passage(ids: Sequence[int], note: str = "") -> Passage:
    raw = np.array(ids, dtype="<u4").tobytes()
    return Passage(list(ids), hashlib.sha256(raw).hexdigest(), note)
