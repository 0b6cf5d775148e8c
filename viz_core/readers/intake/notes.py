"""What was left out of a checkpoint, kept as names: who reads of it has a language of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz_core.readers.intake.words import FIRST, listed, shown
from viz_core.words import mark, say

SENTENCES = {
    "unneeded": mark("Left out, as not needed: {names}."),
    "weightless": mark("Left out, as no weights: {names}."),
    "code": mark("{file} names code ({names}), which is never run."),
}


@dataclass(frozen=True)
class Note:
    """One of SENTENCES by its `kind`, with the first of its names and how many there are in all.

    `file` is where they stood, for code.
    """

    kind: str
    names: tuple[str, ...]
    count: int
    file: str = ""

    @property
    def words(self) -> str:
        """The sentence, in the language that is spoken when it is asked for."""
        names = listed(self.names, count=self.count)
        return say(SENTENCES[self.kind], names=names, file=shown(self.file))


def note(kind: str, names: Sequence[str], file: str = "") -> Note:
    """The note of that `kind` about `names`, of which it keeps those that are shown."""
    return Note(kind, tuple(names[:FIRST]), len(names), file)
