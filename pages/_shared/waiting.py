"""How far a computation is, on the page: a bar, the time left, and a button that ends it."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz_core.words import say

QUIET = 1.0  # seconds: work that is done sooner shows nothing
PAUSE = 1 / 8  # seconds between two writes
STEPS = ((20, 1), (60, 5), (600, 30))  # seconds left below which they are rounded to so many


class Waiting:
    """Shows in `place` how far work is; `cancel` runs, before the page does, if it was ended.

    A page that waits at several places gives each its own `key`.

    Each write is where Streamlit stops a run whose controls have changed: it raises there, and the
    work ends with it. Nothing of the work is held here.
    """

    def __init__(
        self,
        place: DeltaGenerator,
        cancel: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        key: str = "cancel",
    ) -> None:
        self._place, self._cancel, self._clock, self._key = place, cancel, clock, key
        self._visible = clock() + QUIET
        self._due = clock() + PAUSE
        self._bar: DeltaGenerator | None = None

    def watch(self, name: str) -> Report:
        """What the work `name` calls."""
        return Report(self, name)

    def due(self) -> bool:
        """Whether it is time to write again."""
        if due := (now := self.now()) >= self._due:
            self._due = now + PAUSE
        return due

    def now(self) -> float:
        """Seconds, of a clock that nobody sets."""
        return self._clock()

    def write(self, done: float, words: str) -> None:
        """Shows the share `done` and `words`, once the work has taken a while."""
        if self._bar is None:
            if self._clock() < self._visible:
                self._place.empty()  # nothing to see, but a chance to stop
                return
            self._bar = self._drawn()
        self._bar.progress(done, words)

    def _drawn(self) -> DeltaGenerator:
        with self._place.container(horizontal=True, vertical_alignment="center", gap="medium"):
            bar = st.container().empty()
            if self._cancel:
                st.button(say("Cancel"), key=self._key, on_click=self._cancel)
        return bar


class Report:
    """How far one piece of work is: a `Progress`, which hears of its wait too."""

    def __init__(self, waiting: Waiting, name: str) -> None:
        self._waiting, self._name, self._started = waiting, name, waiting.now()

    def __call__(self, done: float) -> None:
        """The share `done`, 0 .. 1, as often as one likes."""
        if self._waiting.due():
            rest = left(done, self._waiting.now() - self._started)
            done = min(done, 1.0)
            said = {"name": self._name, "percent": int(100 * done), "rest": rest}
            self._waiting.write(
                done,
                say("Computing {name}: {percent} %, about {rest} left", **said)
                if rest
                else say("Computing {name}: {percent} %", **said),
            )

    def stands(self, before: int) -> None:
        """The work has not begun: it stands in line, with so many before it."""
        if self._waiting.due():
            words = say(
                "Waiting to compute {name}: {before:,} before you", name=self._name, before=before
            )
            self._waiting.write(0.0, words)
        self._started = self._waiting.now()


def left(done: float, seconds: float) -> str:
    """What is left, "12 s", after `seconds` of work for the share `done`; nothing in its first
    second, or while nothing is done."""
    if seconds < QUIET or done <= 0:
        return ""
    rest = seconds * (1 - done) / done
    step = next((step for end, step in STEPS if rest < end), 60)
    rest = max(step * round(rest / step), 1)
    if rest < 60:
        return say("{seconds} s", seconds=rest)
    return say("{minutes:g} min", minutes=rest / 60)
