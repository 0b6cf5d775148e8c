"""Attributions that sessions share: computed once, in turn, kept like all other results."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, astuple, fields
from typing import Any, TypeVar

import numpy as np

from pages._shared import keeping, loaded
from pages._shared.shelf import Shelf
from pages.attribution.question import Question
from viz_core import keys, packing
from viz_core.attribution import (
    HeadImportance,
    PatternAttribution,
    Place,
    Reach,
    TokenAttribution,
    heads,
    pattern,
    reach,
    tokens,
)
from viz_core.catalogue import Checkpoint
from viz_core.model import Transformer, ours
from viz_core.progress import Progress
from viz_core.store import Entry, RunKey
from viz_core.texts import Passage
from viz_core.words import mark

T = TypeVar("T")

shelf: Shelf[Any] = Shelf(512 << 20)  # of the server, like those of `measuring`
BUILDERS: dict[str, Callable[[Any], Any]] = {  # what JSON doesn't keep
    "layers": tuple,
    "reaches": tuple,
    "places": lambda places: tuple(Place(**p) for p in places),
}


def model(checkpoint: Checkpoint) -> Transformer:
    """The model of `checkpoint`. Raises UsageError for one of another format."""
    return ours(loaded.model(checkpoint), mark("attribution"))


def to_tokens(asked: Question, method: str, steps: int, progress: Progress) -> TokenAttribution:
    """What each token adds; `progress` may raise, to cancel. Raises as `tokens.attribute`."""
    steps = steps if method == tokens.GRADIENTS else 1  # of the others none are taken

    def compute() -> TokenAttribution:
        own, ids = model(asked.checkpoint), asked.passage.ids
        return tokens.attribute(own, ids, asked.target, method, steps, progress=progress)

    options = {"target": astuple(asked.target), "method": method, "steps": steps}
    return _recalled(asked.checkpoint, asked.passage, TokenAttribution, compute, progress, options)


def to_pattern(asked: Question, layer: int, steps: int, progress: Progress) -> PatternAttribution:
    """What the attention of each head of `layer` adds; as above. Raises as `pattern.attribute`."""

    def compute() -> PatternAttribution:
        own, ids = model(asked.checkpoint), asked.passage.ids
        return pattern.attribute(own, ids, asked.target, [layer], steps, progress)

    options = {"target": astuple(asked.target), "layer": layer, "steps": steps}
    kind = PatternAttribution
    return _recalled(asked.checkpoint, asked.passage, kind, compute, progress, options)


def importance(checkpoint: Checkpoint, text: Passage, progress: Progress) -> HeadImportance:
    """What each head is worth in one text; as above. Raises as `heads.measure`."""
    return _recalled(
        checkpoint,
        text,
        HeadImportance,
        lambda: heads.measure(model(checkpoint), [text.ids], progress),
        progress,
        {},
    )


def by_reach(checkpoint: Checkpoint, text: Passage, kept: int, progress: Progress) -> Reach:
    """Losses of one text with attention cut; as above. Raises as `reach.measure`."""
    return _recalled(
        checkpoint,
        text,
        Reach,
        lambda: reach.measure(model(checkpoint), [text.ids], None, kept, progress),
        progress,
        {"kept": kept},
    )


def _recalled(
    checkpoint: Checkpoint,
    text: Passage,
    kind: type[T],
    compute: Callable[[], T],
    progress: Progress,
    options: dict[str, Any],
) -> T:
    what, rest = kind.__name__, tuple(options.items())
    shas, length = (text.sha256,), len(text.ids)
    key = RunKey(checkpoint.sha256, "", shas, length, keys.DTYPE, what, rest)

    def unpack(entry: Entry) -> T:
        return unpacked(kind, entry)

    return keeping.recalled(key, [text], shelf, compute, packed, unpack, progress)


def packed(found: Any) -> packing.Packed:
    """(arrays, words) of a result, as they go to disk."""
    arrays, words = dict[str, Any](), dict[str, str]()
    for field in fields(found):
        value = getattr(found, field.name)
        if isinstance(value, np.ndarray):
            arrays[field.name] = value
        else:
            words[field.name] = json.dumps(value, default=asdict)
    return arrays, words


def unpacked(kind: type[T], entry: Entry) -> T:
    """The result that was packed. Raises KeyError where something is missing."""
    values = dict[str, Any]()
    for field in fields(kind):  # type: ignore[arg-type]
        name = field.name
        if name in entry.arrays:
            values[name] = entry.arrays[name]
        else:
            values[name] = BUILDERS.get(name, lambda v: v)(json.loads(entry.about[name]))
    return kind(**values)
