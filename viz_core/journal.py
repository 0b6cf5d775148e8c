"""What long runs have computed, one JSON line each: it survives a stop at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

from viz_core.errors import AtlasError
from viz_core.words import say


def store_folder() -> Path:
    """Where results are kept: `$ATLAS_STORE`, or else `store/` in the repository root."""
    chosen = os.environ.get("ATLAS_STORE")
    return Path(chosen).expanduser() if chosen else Path(__file__).resolve().parents[1] / "store"


class Journal(MutableMapping[str, dict[str, Any]]):
    """Records by key in the file `path`, each appended as one line the moment it is set.

    A line that was cut off by a stop, or isn't a record, is left out and counted in `broken`; what
    stands before and after it is kept. Several processes may append to one file: each sees what
    was there when it opened it. Raises AtlasError where the file can't be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.broken = path, 0
        self._records: dict[str, dict[str, Any]] = {}
        try:
            text = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise AtlasError(
                say("Could not read {path} ({error}).", path=path, error=error.strerror)
            ) from None
        self._whole = text == b"" or text.endswith(b"\n")
        for line in text.splitlines():
            try:
                key, record = json.loads(line)
                if not (isinstance(key, str) and isinstance(record, dict)):
                    raise ValueError
            except ValueError:
                self.broken += 1
            else:
                self._records[key] = record

    def __getitem__(self, key: str) -> dict[str, Any]:
        return self._records[key]

    def __setitem__(self, key: str, record: dict[str, Any]) -> None:
        line = json.dumps([key, record]).encode() + b"\n"
        if not self._whole:  # end the line that a stop has cut off
            line, self._whole = b"\n" + line, True
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(file, line)  # one call: lines of other processes don't mix with it
            finally:
                os.close(file)
        except OSError as error:
            raise AtlasError(
                say("Could not write {path} ({error}).", path=self.path, error=error.strerror)
            ) from None
        self._records[key] = record

    def __delitem__(self, key: str) -> None:
        raise TypeError("a journal only grows; delete its file to begin anew")

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)
