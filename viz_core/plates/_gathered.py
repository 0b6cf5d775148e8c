"""What several plates are made from: checkpoints, texts, their maps and portraits.

What is computed is kept in the store, so a figure that is drawn again is drawn at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from tokenizers import Tokenizer

from viz_core import attention, catalogue, devices, journal, packing, portraits, texts
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError, TextError
from viz_core.export.provenance import Plain, Source
from viz_core.progress import Progress, within
from viz_core.readers import native
from viz_core.results import Kept
from viz_core.signatures.portrait import Portrait
from viz_core.store import Entry, RunKey, Store
from viz_core.trace import trace
from viz_core.types import Kind, Window

ORDER = ("alibi", "rope", "t5", "nope", "sinusoidal", "learned")  # encodings, as in every list
STORE_BYTES = 4 << 30  # as the app keeps: a smaller limit would remove what it has computed
FORWARD = 0.9  # share of the time that a map's forward pass takes, about


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
        raise TextError("Expected a text that others can read too; got a pasted one.")
    found = texts.passages(text, length, count, tokenizer(checkpoint))
    if len(found) < count or min(len(p.ids) for p in found) < length:
        raise TextError(
            f"Expected {count} texts of {length:,} tokens in {text}; it has {len(found)} of at "
            f"least {min(len(p.ids) for p in found):,}. Choose fewer --texts or a shorter --length."
        )
    return found


def tokenizer(checkpoint: Checkpoint) -> Tokenizer:
    """The tokenizer.json beside the checkpoint, or else the shipped one. Raises AtlasError where
    it isn't the one that the checkpoint was trained with."""
    own = checkpoint.path.with_name("tokenizer.json")
    path = own if own.is_file() else catalogue.TOKENIZER
    if checkpoint.facts.get("tokenizer_sha256") not in (None, native.sha256(path)):
        raise AtlasError(
            f"Expected the tokenizer that {checkpoint.id} was trained with; {path} is another one. "
            "Put the right tokenizer.json beside the checkpoint."
        )
    return Tokenizer.from_file(str(path))


def maps(
    checkpoint: Checkpoint,
    some: Sequence[texts.Passage],
    kind: Kind,
    pixels: int,
    progress: Progress,
) -> list[Window]:
    """The whole map of each layer, at most `pixels` cells wide: means over the texts, or of the
    first text alone for "probability"."""
    some = some[:1] if kind == "probability" else some
    shas, length = tuple(p.sha256 for p in some), len(some[0].ids)
    options = (("kind", kind), ("pixels", pixels))
    key = RunKey(checkpoint.sha256, "", shas, length, "float32", "plate", options)
    store = Store(journal.store_folder(), STORE_BYTES)
    entry = store.get(key)
    if entry is None:
        found = _mapped(checkpoint, some, kind, pixels, progress)
        arrays, about = packing.pack_window(found[0])
        arrays["value"] = np.stack([w.value for w in found])
        store.put(key, arrays, about)
        return found
    one = packing.unpack_window(entry)
    return [replace(one, value=value) for value in entry.arrays["value"]]


def _mapped(
    checkpoint: Checkpoint,
    some: Sequence[texts.Passage],
    kind: Kind,
    pixels: int,
    progress: Progress,
) -> list[Window]:
    model = checkpoint.load(devices.best())
    by_layer: list[list[Window]] = [[] for _ in range(checkpoint.config.layers)]
    for i, passage in enumerate(some):
        here = within(progress, i / len(some), (i + 1) / len(some))
        one = trace(model, passage.ids, within(here, 0.0, FORWARD))
        for layer, windows in enumerate(by_layer):
            if kind == "probability":
                windows.append(attention.window(one, layer, pixels=pixels))
            else:
                centred = kind == "centred"
                windows.append(attention.log_window(one, layer, pixels=pixels, centred=centred))
    if kind == "probability":
        return [windows[0] for windows in by_layer]
    return [attention.mean(windows) for windows in by_layer]


def portrait(
    checkpoint: Checkpoint,
    text: str,
    length: int,
    count: int,
    shipped: Iterable[Kept],
    progress: Progress,
) -> Likeness:
    """The portrait of `checkpoint` over `count` texts of `length` tokens: one that is shipped where
    it is of these, else from the store, else measured now."""
    for kept in shipped:
        same = (kept.portrait.length, kept.portrait.texts, text) == (length, count, texts.HELD_OUT)
        if same and kept.checkpoint == checkpoint.sha256 and not kept.portrait.setting:
            return Likeness(kept.portrait, kept.texts)
    some = passages(text, length, count, checkpoint)
    shas = tuple(p.sha256 for p in some)
    key = RunKey(checkpoint.sha256, "", shas, length, "float32", "portrait")
    store = Store(journal.store_folder(), STORE_BYTES)
    entry = store.get(key)
    if entry is None:
        model, pieces = checkpoint.load(devices.best()), tokenizer(checkpoint)
        found = portraits.measure(model, [p.ids for p in some], pieces, progress=progress)
        entry = Entry(*packing.pack_portrait(found))
        store.put(key, entry.arrays, entry.about)
    # Rounded as it is kept, so that the figure is the same the next time.
    return Likeness(packing.unpack_portrait(entry), shas)


def of_checkpoint(checkpoint: Checkpoint) -> Source:
    """What provenance says of a checkpoint."""
    return Source("checkpoint", checkpoint.id, checkpoint.sha256)


def of_texts(text: str, shas: Sequence[str]) -> tuple[Source, ...]:
    """What provenance says of texts."""
    return tuple(Source("text", f"{text} {i + 1}", sha) for i, sha in enumerate(shas))


def facts(portrait: Portrait, layers: list[int]) -> dict[str, Plain | Sequence[Plain]]:
    """What provenance says of curves from a portrait; `layers` counts from 1."""
    return {
        "length": portrait.length,
        "trained_length": portrait.trained,
        "texts": portrait.texts,
        "layers": [*layers],
        "estimator": "row fixed effects: log A[i, j] = a(i) + b(i - j)",
        "normalisation": "softmax over all keys that are not after the query",
        "sink": f"the first {portrait.sink} keys are left out of curves",
    }
