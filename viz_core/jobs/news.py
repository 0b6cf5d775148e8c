"""What a sweep that runs tells those who look at its store: what it is at, and what has failed.

Results alone are in the store; a cell that isn't there may be waited for, have failed, or have been
begun by nobody. Each run keeps one small file beside the results, which it touches while it lives.
None of it is needed for a result: a disk that refuses it is no error.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

FOLDER = "sweeps"  # in the store
BEAT = 5.0  # seconds between two touches
SILENCE = 60.0  # seconds without one after which a run is taken for dead: network disks are late


@dataclass(frozen=True)
class Heard:
    """Digests of the cells that a run is at now, and of those that failed, with the reason."""

    awaited: frozenset[str] = frozenset()
    failed: Mapping[str, str] = field(default_factory=dict)


class Teller:
    """The file of one run over the cells with these digests; `close` ends it, whatever came."""

    def __init__(self, store: Path, digests: Iterable[str]) -> None:
        self._note = _Note(frozenset(digests), {})
        self._path = store / FOLDER / f"{uuid4().hex}.json"
        self._beaten = time.monotonic()
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            for path, note in _notes(store):  # what this run tries again is news no more
                if not _lives(path) and set(note.failed) <= self._note.cells:
                    path.unlink()
        self._write()

    def beat(self) -> None:
        """Says that the run lives, as often as one likes."""
        if (now := time.monotonic()) - self._beaten >= BEAT:
            self._beaten = now
            with suppress(OSError):
                self._path.touch()

    def failed(self, digest: str, reason: str) -> None:
        """Says that a cell has failed."""
        self._note = replace(self._note, failed={**self._note.failed, digest: reason})
        self._write()

    def close(self) -> None:
        """The run is over; what failed stays to be read until somebody tries it again."""
        self._note = replace(self._note, cells=frozenset())
        if self._note.failed:
            self._write()
            return
        with suppress(OSError):
            self._path.unlink()

    def _write(self) -> None:
        partial = self._path.with_suffix(".partial")
        content = {"cells": sorted(self._note.cells), "failed": self._note.failed}
        with suppress(OSError):
            partial.write_text(json.dumps(content), encoding="utf-8")
            partial.replace(self._path)


def heard(store: Path) -> Heard:
    """What all runs on this store tell. A cell that one is at has not failed, whatever came before,
    unless that one says so."""
    over, now, awaited = dict[str, str](), dict[str, str](), set[str]()
    for path, note in _notes(store):
        if note.cells and _lives(path):
            now |= note.failed
            awaited |= note.cells
        else:
            over |= note.failed
    failed = {digest: reason for digest, reason in over.items() if digest not in awaited} | now
    return Heard(frozenset(awaited - set(now)), failed)


@dataclass(frozen=True)
class _Note:
    cells: frozenset[str]  # none once the run is over
    failed: Mapping[str, str]


def _notes(store: Path) -> Iterator[tuple[Path, _Note]]:
    for path in sorted((store / FOLDER).glob("*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError):  # gone by now, or no note
            told = json.loads(path.read_text(encoding="utf-8"))
            yield path, _Note(frozenset(told["cells"]), dict(told["failed"]))


def _lives(path: Path) -> bool:
    with suppress(OSError):
        return time.time() - path.stat().st_mtime < SILENCE
    return False
