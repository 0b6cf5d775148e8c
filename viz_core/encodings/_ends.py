"""Where values end, as tables have it and as people read it."""

from __future__ import annotations

import re

from viz_core import words
from viz_core.encodings._contract import PositionEncoding
from viz_core.words import mark, say

# As notes in tables: whole sentences, of the limits that encodings here have.
NOTES = (
    mark("undefined past its {longest:,} trained positions"),
    mark("undefined past the {longest:,} positions that floats hold"),
)


def ending(encoding: PositionEncoding) -> str:
    """The note of a length that `encoding` doesn't have, for tables: in English, whoever asks."""
    with words.speaking(words.PLAIN):
        return f"undefined past {encoding.limit}"


def retold(note: str) -> str:
    """A table's note in the language spoken here; one that isn't of `ending` as it is."""
    found = re.search(r"\d[\d,]*", note)
    longest = int(found[0].replace(",", "")) if found else 0
    for known in NOTES:
        if known.format(longest=longest) == note:
            return say(known, longest=longest)
    return note
