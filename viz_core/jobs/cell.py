"""One cell of a sweep, and what came of it: small, plain data that pass between processes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal

from viz_core.store import RunKey
from viz_core.types import Kind, Pooling

Status = Literal["found", "computed", "undefined", "failed", "missing"]


@dataclass(frozen=True)
class How:
    """What all cells of a sweep share: `passages` of each text in a mean, the `view` and `pooling`
    of maps, and for losses the `protocol`, the number of `documents` (None: as many as there are)
    and the `longest` length, for which they are chosen."""

    passages: int = 6  # as the pages at first
    view: Kind = "log"
    pooling: Pooling = "mean"
    protocol: str = "fixed-targets"
    documents: int | None = None
    longest: int = 0


@dataclass(frozen=True)
class Cell:
    """One checkpoint under one setting, at one length, on one text, measured in one way.

    `name` is what `catalogue.find` takes, `checkpoint` what the spec calls it. `step` and
    `tokens_seen`: of its training, where it says so. `key`: of its result; None where it can't
    have one, and then `obstacle` says why, and `undefined` whether that lies in the encoding.
    """

    name: str
    checkpoint: str
    sha256: str
    encoding: str
    trained_length: int
    step: int | None
    tokens_seen: int | None
    setting: str
    text: str
    length: int
    measurement: str
    how: How
    key: RunKey | None
    obstacle: str = ""
    undefined: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of a cell, known by the digest of its key; `reason` says why there is no result."""

    digest: str
    status: Status
    reason: str = ""


Tick = Callable[[], None]  # called every moment of a wait; may raise, to cancel
Run = Callable[[Cell], Outcome]
Outcomes = Generator[Outcome, None, None]  # closing it ends the work
