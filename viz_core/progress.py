"""How far a computation is: it calls a function with 0 .. 1, which may raise, to cancel."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float], None]


def ignore(done: float) -> None:
    """For work that no one watches."""


def within(progress: Progress, first: float, last: float) -> Progress:
    """The progress of a part, which takes the whole from `first` to `last`."""
    return lambda done: progress(first + (last - first) * done)
