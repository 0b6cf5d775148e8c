"""The portraits that several plates draw, and what all of these plates take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz_core import catalogue, results, series, texts, variants
from viz_core.catalogue import Checkpoint
from viz_core.export.provenance import Source
from viz_core.plates import _gathered, _places
from viz_core.plates._contract import Options
from viz_core.progress import Progress, within
from viz_core.signatures.portrait import Portrait

COMMON: Options = {"scaling": ["none"], "length": None, "text": texts.HELD_OUT, "texts": 42}


@dataclass(frozen=True)
class Sitter:
    """A checkpoint with its portrait, what figures call it, and the sha256 of each text."""

    checkpoint: Checkpoint
    name: str
    portrait: Portrait
    texts: tuple[str, ...]

    @property
    def accent(self) -> str:
        """The encoding, whose colour marks it."""
        return self.portrait.encoding


def sitters(options: Options, progress: Progress) -> list[Sitter]:
    """The portraits of --checkpoints, each under the setting of --scaling: one for all, or each.

    Raises UsageError, UnknownName and TextError for what isn't there.
    """
    names = options["checkpoints"]
    settings = _places.each(options["scaling"], len(names), "scaling")
    shipped = results.portraits().values()
    asked_for = []
    for name, word in zip(names, settings, strict=True):
        checkpoint, setting = catalogue.find(name), _places.setting(word)
        length = options["length"] or checkpoint.config.length
        variants.parameters(
            checkpoint.config.encoding, setting, length, checkpoint.config.length
        )  # raises before any text is read
        asked_for.append((checkpoint, setting, length))
    found = []
    for i, (checkpoint, setting, length) in enumerate(asked_for):
        here = within(progress, i / len(names), (i + 1) / len(names))
        asked = options["text"], length, options["texts"]
        like = _gathered.portrait(checkpoint, *asked, shipped, here, setting)
        title = series.name(checkpoint.config.encoding, setting, checkpoint.id)
        found.append(Sitter(checkpoint, title, like.portrait, like.texts))
    return found


def place(some: Sequence[Sitter], layer: int, head: int = 1) -> tuple[int, int]:
    """(layer, head) from 0, once every checkpoint is known to have them. Raises UsageError."""
    every = {_places.head(one.checkpoint, layer, head) for one in some}
    return every.pop()


def sources(some: Sequence[Sitter], options: Options) -> tuple[Source, ...]:
    """What provenance says of checkpoints and texts, each once."""
    found = [_gathered.of_checkpoint(one.checkpoint) for one in some]
    found += [s for one in some for s in _gathered.of_texts(options["text"], one.texts)]
    return tuple(dict.fromkeys(found))
