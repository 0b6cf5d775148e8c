"""A shelf in memory: what was used last stays, up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Shelf(Generic[T]):
    """The most recently used values, up to `limit` bytes in all; safe under threads."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self._items: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """The value under `key`, now the most recently used, or None."""
        with self._lock:
            if key not in self._items:
                return None
            self._items.move_to_end(key)
            return self._items[key][0]

    def put(self, key: Hashable, value: T, size: int) -> None:
        """Keeps `value` of `size` bytes; the least recently used go until the limit holds.

        A value larger than the limit is kept alone.
        """
        with self._lock:
            self.held += size - self._items.pop(key, (value, 0))[1]
            self._items[key] = value, size
            while self.held > self.limit and len(self._items) > 1:
                self.held -= self._items.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Lets everything go."""
        with self._lock:
            self._items.clear()
            self.held = 0
