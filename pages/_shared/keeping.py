"""Results by their key: from a shelf in memory, from the store on disk, or computed now.

The store is where other processes find them too; of someone's own text nothing goes there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TypeVar

from pages._shared import allowed, device, metrics
from pages._shared.shelf import Shelf
from viz_core import journal, packing
from viz_core.progress import Progress
from viz_core.store import Arrays, Entry, RunKey, Store
from viz_core.texts import Passage
from viz_core.words import speaking

T = TypeVar("T")
log = logging.getLogger("atlas")

STORE_BYTES = 4 << 30


@cache
def store() -> Store:
    """Results on disk, shared with other processes."""
    return Store(journal.store_folder(), STORE_BYTES)


def recalled(
    key: RunKey,
    passages: list[Passage],
    shelf: Shelf[T],
    compute: Callable[[], T],
    pack: Callable[[T], packing.Packed],
    unpack: Callable[[Entry], T],
    progress: Progress,
) -> T:
    """What `key` names: from `shelf`, from the store, or computed now, in turn, and kept in both.

    Of someone's own text nothing goes to the store. `progress` is told of nothing but the wait.
    Raises LengthError for what is to be computed and is more than one request may have.
    """
    own = any(p.own for p in passages)

    def kept() -> T | None:
        found = shelf.get(key)
        if found is not None:
            metrics.found.labels("memory").inc()
            return found
        entry = None if own else store().get(key)
        if entry is not None:
            with suppress(KeyError, TypeError, ValueError):  # as another version arranged it
                found = unpack(entry)
                shelf.put(key, found, _size(entry.arrays))
                metrics.found.labels("store").inc()
        return found

    found = kept()  # before the line: what is there takes nothing of the device
    if found is not None:
        return found
    allowed.check_length(len(passages[0].ids))
    with device.turn(progress):
        found = kept()  # computed by another session, or another server, while this one waited
        if found is None:
            found = device.computed(key.what, compute)
            arrays, about = pack(found)
            shelf.put(key, found, _size(arrays))
            if not own and not store().put(key, arrays, about):
                with speaking("en"):  # the log's own language
                    log.warning(store().trouble)
        return found


def _size(arrays: Arrays) -> int:
    return sum(a.nbytes for a in arrays.values())
