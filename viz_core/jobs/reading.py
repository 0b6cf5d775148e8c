"""The texts of a sweep, in the tokens of each checkpoint: read alike by planner and workers."""

from __future__ import annotations

from tokenizers import Tokenizer

from viz_core import texts
from viz_core.catalogue import Checkpoint
from viz_core.errors import TextError
from viz_core.jobs.cell import How
from viz_core.types import Sample
from viz_core.words import say


class Reading:
    """Texts read once for each tokenizer, which checkpoints mostly share."""

    def __init__(self, how: How) -> None:
        self.how = how
        self._passages: dict[tuple[int, str, int], list[texts.Passage]] = {}
        self._samples: dict[tuple[int, str], list[Sample]] = {}
        self._pieces: dict[int, Tokenizer] = {}  # held, so that no other takes its number

    def passages(self, checkpoint: Checkpoint, text: str, length: int) -> list[texts.Passage]:
        """The passages that a mean is taken over. Raises TextError where there are fewer."""
        where = self._of(checkpoint), text, length
        if where not in self._passages:
            pieces, count = self._pieces[where[0]], self.how.passages
            found = texts.passages(text, length, count, pieces)
            shortest = min(len(p.ids) for p in found)
            if len(found) < count or shortest < length:
                raise TextError(
                    say(
                        "Expected {count} passages of {length:,} tokens in {text}; it has {found} "
                        "of at least {shortest:,}, so ask for fewer passages or shorter lengths.",
                        count=count,
                        length=length,
                        text=text,
                        found=len(found),
                        shortest=shortest,
                    )
                )
            self._passages[where] = found
        return self._passages[where]

    def samples(self, checkpoint: Checkpoint, text: str) -> list[Sample]:
        """The documents that losses are measured on. Raises as `texts.samples` does."""
        where = self._of(checkpoint), text
        if where not in self._samples:
            pieces, how = self._pieces[where[0]], self.how
            self._samples[where] = texts.samples(text, how.longest, pieces, how.documents)
        return self._samples[where]

    def _of(self, checkpoint: Checkpoint) -> int:
        pieces = checkpoint.tokenizer()
        self._pieces.setdefault(id(pieces), pieces)
        return id(pieces)
