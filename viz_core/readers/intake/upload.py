"""One upload as it lies on disk, and how many bytes a folder takes."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from viz_core.errors import AtlasError
from viz_core.words import say


@dataclass(frozen=True)
class Upload:
    """One upload: `id` as sha256sum would give for the list of its files' sha256sums.

    `folder` holds the `files` by name, and has room beside them for what is made of them: see
    `admitted`. `bytes`: of the files. `created`: seconds since 1970. `owner`: "" once published.
    """

    id: str
    owner: str
    files: tuple[str, ...]
    bytes: int
    created: float
    folder: Path

    @property
    def paths(self) -> list[Path]:
        return [self.folder / "files" / name for name in self.files]

    @property
    def admitted(self) -> Path:
        """Where `admit` may put what it makes of this upload: it counts, moves and goes with it."""
        return self.folder / "admitted"


def found(folder: Path, owner: str) -> Upload | None:
    """The upload in `folder`; None if there is none (any more)."""
    try:
        created = (folder / "files").stat().st_mtime
        sizes = {path.name: path.stat().st_size for path in sorted((folder / "files").iterdir())}
    except OSError:
        return None
    return Upload(folder.name, owner, tuple(sizes), sum(sizes.values()), created, folder)


def taken(folder: Path) -> int:
    """Bytes of all files in `folder`, links not followed, as far as they are still there."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def unwritable(error: OSError) -> AtlasError:
    """What is said where an upload can't be written."""
    what = say("no room is left") if error.errno == errno.ENOSPC else error.strerror
    return AtlasError(
        say(
            "Could not keep the upload ({what}), so tell the server's owner, whose disk it is.",
            what=what,
        )
    )
