"""Which tokens are scored, and with how much context: four protocols that are four quantities."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viz_core.errors import LengthError, UnknownName
from viz_core.words import mark, say

TARGETS = 256  # tokens of a document that fixed targets are
STRIDE = 256  # by which a sliding window moves
SCORED = 1_024  # tokens of a document that sliding windows score
WINDOWS = 2  # at random offsets in a document, by position

FIXED, PIECES, SLIDING, POSITIONS = (
    "fixed-targets",
    "non-overlapping",
    "sliding-window",
    "per-position",
)
PROTOCOLS = {  # with the numbers above, spelt out: words to be translated are constants
    FIXED: mark(
        "the same 256 target tokens of each document at every length: the last of an input of N "
        "tokens"
    ),
    PIECES: mark(
        "each document cut into pieces of N tokens, all tokens scored: early ones of a piece have "
        "little context"
    ),
    SLIDING: mark(
        "windows of N tokens, moved by 256, of which the last 256 are scored; the same tokens at "
        "every length"
    ),
    POSITIONS: mark(
        "windows of N tokens at random places of each document, loss by the number of tokens before"
    ),
}


class Window(NamedTuple):
    """The model reads ids[start : start + length] and predicts one further each; `last` count."""

    start: int
    length: int
    last: int


@dataclass(frozen=True)
class Bin:
    """A range of positions, both ends included; a position is the number of tokens before."""

    first: int
    last: int


def windows(protocol: str, size: int, length: int, identity: str) -> list[Window]:
    """The windows of `length` over a document of `size` tokens, in the order of its text.

    `identity` (the document's hash) seeds what is random. Raises LengthError where the document
    is too short, with the largest length that isn't; UnknownName for another protocol.
    """
    longest = size - 1 - (SCORED - STRIDE if protocol == SLIDING else 0)
    least = {FIXED: TARGETS, SLIDING: STRIDE}.get(protocol, 1)  # the same tokens at every length
    if not least <= length <= longest:
        raise LengthError(
            say(
                "Expected lengths from {least:,} to {longest:,} tokens for {protocol} on "
                "documents of {size:,}; got {length:,}.",
                least=least,
                longest=longest,
                protocol=protocol,
                size=size,
                length=length,
            ),
            longest,
        )
    match protocol:
        case "fixed-targets":
            return [Window(size - 1 - length, length, TARGETS)]
        case "non-overlapping":
            count = (size - 1) // length
            return [Window(i * length, length, length) for i in range(count)]
        case "sliding-window":
            ends = range(size - 1 - SCORED + STRIDE, size, STRIDE)
            return [Window(end - length, length, STRIDE) for end in ends]
        case "per-position":
            seed = int.from_bytes(hashlib.sha256(identity.encode()).digest()[:8], "little")
            starts = np.random.default_rng(seed).integers(size - length, size=WINDOWS)
            return [Window(int(s), length, length) for s in sorted(starts)]
    raise UnknownName(mark("a protocol"), protocol, list(PROTOCOLS))


def bins(protocol: str, length: int) -> tuple[Bin, ...]:
    """How scored tokens are told apart: by position in half octaves from 32 on; else not at all."""
    if protocol != POSITIONS:
        return (Bin(1, length),)
    edges = [1]
    while edges[-1] < length:
        edges.append(round(32 * 2 ** ((len(edges) - 1) / 2)))
    firsts = edges[:-1] if len(edges) > 1 else edges
    lasts = [e - 1 for e in edges[1:-1]] + [length]
    return tuple(Bin(a, b) for a, b in zip(firsts, lasts, strict=True))
