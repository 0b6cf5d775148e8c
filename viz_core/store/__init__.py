"""Results on disk, by the hash of what they are of: computed once, found again by any process.

An entry is one safetensors file: arrays, and words about them; nothing in it is ever run. It takes
its name once it is whole, so a stop at any moment leaves the old file, the new one, or none. No
locks: whoever is late computes the same numbers again, which costs time, never correctness.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from viz_core.errors import UsageError
from viz_core.store.entry import Arrays, Entry, pack, unpack
from viz_core.store.key import Option, RunKey
from viz_core.words import mark, say

__all__ = ["Arrays", "Entry", "Option", "RunKey", "Store"]

_OURS = re.compile(r"[0-9a-f]{64}\.(safetensors|[0-9a-f]{32}\.partial)")
_ABANDONED = 3600.0  # seconds; far above a write, and above what the clocks of two machines differ
_SHARE = 16  # of the limit, one part in so many is the room that a sweep makes


class Store:
    """Entries under `folder` (see `journal.store_folder`), least recently used out first.

    They take at most `limit` bytes; with P processes writing at once, up to (P - 1) / 16 of it
    more. Safe for several processes and threads. A store that can't be written is no error: `put`
    says False, and `trouble` why. Raises UsageError for a limit below 0 bytes.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        if limit < 0:
            raise UsageError(
                say(
                    "Expected a limit of 0 bytes or more for the store; got {limit:,}.", limit=limit
                )
            )
        self.folder, self.limit = folder, limit
        self._trouble: tuple[str, dict[str, object]] | None = None  # a message and its fields
        self._allowance = self._sweep()

    @property
    def trouble(self) -> str | None:
        """Why the last put kept nothing, in one sentence; None if it did.

        Said when asked for: one store serves people of several languages.
        """
        if self._trouble is None:
            return None
        message, facts = self._trouble
        return say(message, **facts)

    def get(self, key: RunKey) -> Entry | None:
        """The entry of `key`, now the most recently used; None where there is no whole one.

        A file that is cut off, altered or of another key is removed. One that can't be opened at
        the moment (no permission, no more file handles) may be a good one, so it stays.
        """
        path = self._path(key)
        try:
            # Read, not mapped: where the disk fails, or another machine deletes the file on a
            # network disk, a read raises but a touch of mapped memory kills the process.
            data = path.read_bytes()
        except OSError:
            return None
        entry = unpack(data, key)
        with suppress(OSError):  # gone by now, or of a store that may only be read
            if entry is None:
                path.unlink()
            else:
                os.utime(path)
        return entry

    def put(self, key: RunKey, arrays: Arrays, about: Mapping[str, str]) -> bool:
        """Keeps `arrays` (numbers or booleans, any shape) and `about`; whether they were kept.

        False, and the reason in `trouble`, where the disk is full, the folder can't be written or
        the entry alone is larger than the limit. Raises SafetensorError for a type that the format
        doesn't know (text, objects).
        """
        data = pack(key, arrays, about)
        if len(data) > self.limit:
            message = mark(
                "Expected results of at most {limit:,} bytes for the store; got {size:,}, so they "
                "are computed anew each time; raise its limit to keep them."
            )
            self._trouble = message, {"limit": self.limit, "size": len(data)}
            return False
        path = self._path(key)
        partial = path.with_suffix(f".{uuid4().hex}.partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                # Not safetensors' save_file: that of 0.8 writes under a name of its own first,
                # which a sweep would not know for an abandoned file.
                with partial.open("xb") as file:
                    file.write(data)
                # No fsync: what a power cut leaves of a file fails its checksum.
                os.replace(partial, path)
            except BaseException:
                with suppress(OSError):
                    partial.unlink(missing_ok=True)
                raise
        except OSError as error:
            message = mark(
                "Could not write to the store in {folder} ({error}), so results are computed anew "
                "each time; free space there, or let ATLAS_STORE name another folder."
            )
            self._trouble = message, {"folder": self.folder, "error": error.strerror}
            return False
        self._trouble = None
        self._allowance -= len(data)
        if self._allowance < 0:
            self._allowance = self._sweep()
        return True

    def _path(self, key: RunKey) -> Path:
        digest = key.digest
        return self.folder / digest[:2] / f"{digest}.safetensors"

    def _sweep(self) -> int:
        """Removes abandoned partial files, and entries until the rest is within the limit.

        Returns how many bytes this process may put before the next sweep, which looks at every file
        and so is not for every put: no more than fits below the limit, and no more than a sixteenth
        of it, as what other processes put is only seen in a sweep. (Threads that count at once may
        miss a put; the next sweep finds it.) A full store is swept a sixteenth below its limit, or
        each put would sweep again; its newest entry stays if it fits at all.
        """
        entries = []
        for path, stat in self._files():
            if path.suffix != ".partial":
                entries.append((stat.st_mtime_ns, stat.st_size, path))
            elif time.time() - stat.st_mtime > _ABANDONED:
                _remove(path)
        entries.sort()
        total = sum(size for _, size, _ in entries)
        if total > self.limit:
            newest = entries[-1][1]
            goal = min(self.limit, max(self.limit - self.limit // _SHARE, newest))
            for _, size, path in entries:
                if total <= goal:
                    break
                _remove(path)
                total -= size
        return min(self.limit - total, self.limit // _SHARE)

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        """Entries and partial files. The folder may hold anything else: it is never touched."""
        files = []
        for first in range(256):
            with suppress(OSError), os.scandir(self.folder / f"{first:02x}") as found:
                for file in found:
                    if _OURS.fullmatch(file.name):
                        with suppress(OSError):  # gone by now
                            files.append((Path(file.path), file.stat()))
        return files


def _remove(path: Path) -> None:
    with suppress(OSError):  # another process was first, or it isn't ours to remove
        path.unlink()
