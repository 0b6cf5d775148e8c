"""What several plates are made from: checkpoints, texts, and their portraits.

What is computed is kept in the store, so a figure that is drawn again is drawn at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from viz_core import catalogue, devices, journal, keys, packing, portraits, texts, variants
from viz_core.catalogue import Checkpoint
from viz_core.errors import TextError
from viz_core.export.provenance import Plain, Source
from viz_core.progress import Progress
from viz_core.results import Kept
from viz_core.signatures.portrait import Portrait
from viz_core.store import Entry, Store
from viz_core.types import SINK
from viz_core.words import say

STORE_BYTES = 4 << 30  # as the app keeps: a smaller limit would remove what it has computed


@dataclass(frozen=True)
class Likeness:
    """A portrait, and the sha256 of each text that it is of."""

    portrait: Portrait
    texts: tuple[str, ...]


def checkpoints(names: Sequence[str]) -> list[Checkpoint]:
    """The checkpoints called `names`. Raises as `catalogue.find` does."""
    return [catalogue.find(name) for name in names]


def passages(text: str, length: int, count: int, checkpoint: Checkpoint) -> list[texts.Passage]:
    """`count` passages of exactly `length` tokens. Raises TextError where there are fewer."""
    if text == texts.PASTED:
        raise TextError(say("Expected a text that others can read too; got a pasted one."))
    found = texts.passages(text, length, count, checkpoint.tokenizer())
    if len(found) < count or min(len(p.ids) for p in found) < length:
        raise TextError(
            say(
                "Expected {count} texts of {length:,} tokens in {text}; it has {found} of at least "
                "{least:,}. Choose fewer --texts or a shorter --length.",
                count=count,
                length=length,
                text=text,
                found=len(found),
                least=min(len(p.ids) for p in found),
            )
        )
    return found


def store() -> Store:
    """Where results are kept, shared with the app."""
    return Store(journal.store_folder(), STORE_BYTES)


def portrait(
    checkpoint: Checkpoint,
    text: str,
    length: int,
    count: int,
    shipped: Iterable[Kept],
    progress: Progress,
    setting: str = "",
) -> Likeness:
    """The portrait of `checkpoint` over `count` texts of `length` tokens: one that is shipped where
    it is of these, else from the store, else measured now.

    Raises UsageError for a `setting` (see `variants`) that it can't have.
    """
    for kept in shipped:
        same = (kept.portrait.length, kept.portrait.texts, text) == (length, count, texts.HELD_OUT)
        if same and kept.checkpoint == checkpoint.sha256 and kept.portrait.setting == setting:
            return Likeness(kept.portrait, kept.texts)
    some = passages(text, length, count, checkpoint)
    shas = tuple(p.sha256 for p in some)
    key = keys.portrait(checkpoint, some, setting)
    entry = store().get(key)
    if entry is None:
        model = variants.vary(checkpoint.load(devices.best()), setting, length)
        ids, pieces = [p.ids for p in some], checkpoint.tokenizer()
        found = portraits.measure(model, ids, pieces, setting, progress)
        entry = Entry(*packing.pack_portrait(found))
        store().put(key, entry.arrays, entry.about)
    # Rounded as it is kept, so that the figure is the same the next time.
    return Likeness(packing.unpack_portrait(entry), shas)


def of_checkpoint(checkpoint: Checkpoint) -> Source:
    """What provenance says of a checkpoint."""
    return Source("checkpoint", checkpoint.id, checkpoint.sha256, checkpoint.caveat)


def of_texts(text: str, shas: Sequence[str]) -> tuple[Source, ...]:
    """What provenance says of texts."""
    return tuple(Source("text", f"{text} {i + 1}", sha) for i, sha in enumerate(shas))


def how(length: int, trained: int, count: int) -> dict[str, Plain | Sequence[Plain]]:
    """What provenance says of curves by distance over `count` texts of `length` tokens."""
    return {
        "length": length,
        "trained_length": trained,
        "texts": count,
        "estimator": "row fixed effects: log A[i, j] = a(i) + b(i - j)",
        "normalisation": "softmax over all keys that are not after the query",
        "sink": f"the first {SINK} keys are left out of curves",
    }


def facts(portrait: Portrait, layers: list[int]) -> dict[str, Plain | Sequence[Plain]]:
    """What provenance says of curves from a portrait; `layers` counts from 1."""
    return how(portrait.length, portrait.trained, portrait.texts) | {"layers": [*layers]}
