"""Who computes next: in the order in which they came, so many at once, each knowing their place."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 0.2  # seconds between looks of one that waits


class Line:
    """A queue before a device that serves `places` at a time: two at once would be slower, and may
    not fit into its memory. Safe under threads."""

    def __init__(self, places: int = 1) -> None:
        self._places, self._inside = places, 0
        self._waiting = deque[object]()
        self._moved = threading.Condition()

    @property
    def length(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @contextmanager
    def turn(self, told: Callable[[int], object] = lambda before: None) -> Iterator[None]:
        """A place, once all who came before have had theirs.

        `told(before)` hears again and again how many are still before, those who are being served
        among them, and may raise: who gives up leaves the line.
        """
        ticket = object()
        with self._moved:
            self._waiting.append(ticket)
        try:
            while (before := self._before(ticket)) is not None:
                told(before)
        except BaseException:
            with self._moved:
                self._waiting.remove(ticket)
                self._moved.notify_all()
            raise
        try:
            yield
        finally:
            with self._moved:
                self._inside -= 1
                self._moved.notify_all()

    def _before(self, ticket: object) -> int | None:
        """How many are before `ticket` after a moment's wait; None once it has been let in."""
        with self._moved:
            if not self._let_in(ticket):
                self._moved.wait(PATIENCE)
                if not self._let_in(ticket):
                    return self._waiting.index(ticket) + self._inside
        return None

    def _let_in(self, ticket: object) -> bool:
        if self._waiting[0] is not ticket or self._inside >= self._places:
            return False
        self._waiting.popleft()
        self._inside += 1
        self._moved.notify_all()
        return True
