"""Heads by their places, checkpoint.layer.head, as in the addresses of Compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz_core import catalogue, series
from viz_core.catalogue import Checkpoint
from viz_core.errors import UsageError
from viz_core.figures import attention_maps
from viz_core.plates._contract import Options
from viz_core.types import Range
from viz_core.words import say


@dataclass(frozen=True)
class Place:
    """One head of a checkpoint under a setting; `layer` and `head` count from 0."""

    checkpoint: Checkpoint
    layer: int
    head: int
    setting: str = ""

    @property
    def name(self) -> str:
        """What figures call the checkpoint."""
        c = self.checkpoint
        return series.name(c.config.encoding, self.setting, c.id)

    @property
    def title(self) -> str:
        """The name, with the head's place in words."""
        return attention_maps.heading(self.name, self.layer + 1, self.head + 1)


def places(options: Options) -> list[Place]:
    """Those of --places, each under the setting of --scaling, where the plate takes one.

    Raises UsageError for words that are none, and as `catalogue.find` does.
    """
    words = options["places"]
    settings = each(options.get("scaling") or ["none"], len(words), "scaling")
    return [_place(word, setting) for word, setting in zip(words, settings, strict=True)]


def one_checkpoint(options: Options) -> Checkpoint:
    """That of --checkpoints. Raises UsageError for several, and as `catalogue.find` does."""
    names = options["checkpoints"]
    if len(names) != 1:
        raise UsageError(say("Expected one of --checkpoints here; got {count}.", count=len(names)))
    return catalogue.find(names[0])


def one_head(options: Options) -> int:
    """That of --heads, from 1. Raises UsageError for several."""
    if len(options["heads"]) != 1:
        raise UsageError(
            say("Expected one of --heads here; got {count}.", count=len(options["heads"]))
        )
    number: int = options["heads"][0]
    return number


def head(checkpoint: Checkpoint, layer: int, head: int) -> tuple[int, int]:
    """(layer, head) from 0 for those from 1. Raises UsageError where the checkpoint hasn't any."""
    config = checkpoint.config
    if not (1 <= layer <= config.layers and 1 <= head <= config.heads):
        raise UsageError(
            say(
                "Expected a layer up to {layers} and heads up to {heads} of {checkpoint}; got "
                "layer {layer}, head {head}.",
                layers=config.layers,
                heads=config.heads,
                checkpoint=checkpoint.id,
                layer=layer,
                head=head,
            )
        )
    return layer - 1, head - 1


def boxes(options: Options, count: int) -> list[tuple[Range, Range] | None]:
    """The window of each of `count` maps, of --queries and --keys; None for a whole map.

    Raises UsageError where only one of the two is given.
    """
    queries, keys = options["queries"] or [], options["keys"] or []
    if not queries and not keys:
        return [None] * count
    if not (queries and keys):
        raise UsageError(
            say(
                "Expected --queries with --keys, such as --queries 512:768 --keys 0:256; got one "
                "alone."
            )
        )
    rows, columns = each(queries, count, "queries"), each(keys, count, "keys")
    return [(_range(a), _range(b)) for a, b in zip(rows, columns, strict=True)]


def each(words: Sequence[str], count: int, name: str) -> list[str]:
    """One word for each of `count` panels, from one for all or one for each; else UsageError."""
    if len(words) not in (1, count):
        raise UsageError(
            say(
                "Expected --{name} once, or once for each of {count} panels; got {found}.",
                name=name,
                count=count,
                found=len(words),
            )
        )
    return [*words] * (count if len(words) == 1 else 1)


def setting(word: str) -> str:
    """The word of --scaling as the settings of `variants`: "none" is as trained."""
    return "" if word == "none" else word


def _place(word: str, scaling: str) -> Place:
    name, *numbers = word.rsplit(".", 2)
    if len(numbers) != 2 or not all(n.isascii() and n.isdecimal() and len(n) < 4 for n in numbers):
        raise UsageError(
            say(
                "Expected --places as checkpoint.layer.head, such as alibi.3.2,rope.3.1; got "
                "{word!r}.",
                word=word[:40],
            )
        )
    checkpoint = catalogue.find(name)
    return Place(checkpoint, *head(checkpoint, *map(int, numbers)), setting(scaling))


def _range(word: str) -> Range:
    first, _, last = word.partition(":")
    return int(first), int(last)
