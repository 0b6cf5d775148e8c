"""Checkpoints opened once for all sessions: models, tokenizers, and what an audit finds."""

from __future__ import annotations

import threading

from tokenizers import Tokenizer

from pages._shared import device
from pages._shared.shelf import Shelf
from viz_core import devices, readers
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.readers.description import Finding
from viz_core.subject import Subject
from viz_core.words import language, say

FLOAT = 4  # bytes

# Of the server, as in `device`.
tokenizers: Shelf[Tokenizer] = Shelf(32)  # so many
audits: Shelf[tuple[Finding, ...]] = Shelf(256)  # so many
loading = threading.Lock()  # one model at a time: two at once may not fit


def tokenizer(checkpoint: Checkpoint) -> Tokenizer:
    """The tokenizer of `checkpoint`; one object for all that share it. Raises AtlasError."""
    key = _there(checkpoint).sha256, checkpoint.special_tokens
    found = tokenizers.get(key)
    if found is None:
        found = checkpoint.tokenizer()
        tokenizers.put(key, found, 1)
    return found


def model(checkpoint: Checkpoint) -> Subject:
    """The model of `checkpoint` on the best device, loaded once.

    Raises AtlasError where it was removed or takes more memory than is free, DamagedCheckpoint for
    weights that can't be used.
    """
    key = _there(checkpoint).sha256  # of its files and of the answers about them
    with loading:
        found = device.models().get(key)
        if found is None:
            found = _load(checkpoint)
            device.models().put(key, found, FLOAT * checkpoint.description.weights)
        return found


def audited(checkpoint: Checkpoint) -> tuple[Finding, ...]:
    """All findings about `checkpoint`, those too that need its weights. Raises as `model` does."""
    key = _there(checkpoint).sha256, language()  # findings are words
    found = audits.get(key)
    if found is None:
        found = readers.audit(model(checkpoint), checkpoint.description)
        audits.put(key, found, 1)
    return found


def _load(checkpoint: Checkpoint) -> Subject:
    """The model, where there is room for it: once as it lies on disk, once in float32."""
    need, place = 2 * FLOAT * checkpoint.description.weights, devices.best()
    if need > devices.free_bytes(place):
        device.make_room()
    if need > (free := devices.free_bytes(place)):
        raise AtlasError(
            say(
                "Expected {need:.1f} GiB of memory for the weights of {id}; {free:.1f} GiB are "
                "free, so choose a smaller checkpoint, or a larger machine.",
                need=need / 2**30,
                id=checkpoint.id,
                free=free / 2**30,
            )
        )
    return checkpoint.load(place)


def _there(checkpoint: Checkpoint) -> Checkpoint:
    """`checkpoint`, if its files are still there."""
    if not checkpoint.path.exists():
        raise AtlasError(
            say(
                "Expected the files of {id}; they were removed or have expired, so upload them "
                "again, or choose another checkpoint.",
                id=checkpoint.id,
            )
        )
    return checkpoint
