"""The device that all sessions share: what is kept on it, and whose turn it is to compute.

Models and traces lie on one device, `devices.best()`, so one computation runs at a time. Another
GPU is for another server on the same store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from pages._shared import allowed, metrics
from pages._shared.line import Line
from pages._shared.shelf import Shelf
from pages._shared.waiting import Report
from viz_core import devices
from viz_core.progress import Progress
from viz_core.subject import Subject
from viz_core.trace import Trace

T = TypeVar("T")

# Of the server, not of a session: plain module state, which threads without a session may use too.
line = Line()
metrics.waiting.set_function(lambda: line.length)


@cache
def models() -> Shelf[Subject]:
    """Models on the device, up to a quarter of the memory that is free when the first is made."""
    return Shelf(devices.free_bytes(devices.best()) // 4)


@cache
def traces() -> Shelf[Trace]:
    """Traces on the device, up to an eighth of the memory that is free when the first is made.

    They stay for a while: another head or layer of the same text, or a part of its map, then needs
    no second forward pass.
    """
    return Shelf(devices.free_bytes(devices.best()) // 8)


def make_room() -> None:
    """Lets go of all that is kept on the device."""
    traces().clear()
    models().clear()


@contextmanager
def turn(progress: Progress) -> Iterator[None]:
    """A place at the device, in the order in which people came; who waits can give up.

    `progress` hears how many are before, if it is a `waiting.Report`; else that nothing is done.
    """

    def told(before: int) -> None:
        if isinstance(progress, Report):
            progress.stands(before)
        else:
            progress(0.0)

    with line.turn(told):
        yield


def computed(what: str, compute: Callable[[], T]) -> T:
    """`compute()`, counted as `what`; once more without all that is kept on the device, where its
    memory ran out. For who has a `turn`. Raises AtlasError where it doesn't do then either."""
    with metrics.counted(what):
        return allowed.fitting(compute, make_room)
