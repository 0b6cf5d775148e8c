"""An upload while it comes in: streamed to disk, hashed and counted, never held in memory."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from viz_core.errors import AtlasError
from viz_core.readers.intake import names
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.upload import Upload, found, taken, unwritable
from viz_core.readers.intake.words import shown, size
from viz_core.words import say

_COUNTED = 8 << 20  # bytes written between two counts of what lies on disk


class Incoming:
    """An upload that is coming in. Left without `finish`, by an error too, it leaves nothing.

    `folder`: an empty one, with an empty `files` in it, beside the owner's uploads; all people's
    lie two levels up. Made by `Uploads.begin`.
    """

    def __init__(self, folder: Path, owner: str, limits: Limits) -> None:
        self._folder, self._owner, self._limits = folder, owner, limits
        self._hashes: dict[str, str] = {}
        self._bytes = self._uncounted = 0

    def __enter__(self) -> Incoming:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)  # moved away if it is finished

    def write(self, name: str, chunks: Iterable[bytes]) -> None:
        """Streams a file to disk under `name`: a plain one, of a checkpoint's file or a .zip.

        Raises AtlasError for another name or one that was there, and as soon as the file, the
        upload or what its owner has is beyond its limit; then nothing of this file is kept.
        """
        if not names.uploadable(name):
            raise AtlasError(
                say(
                    "Expected a checkpoint's file (.safetensors, .pt, .pth, .ckpt, .bin, .gguf, "
                    "its JSON files, or a .zip of them); got {name}, so leave it out.",
                    name=shown(name),
                )
            )
        if name.casefold() in (met.casefold() for met in self._hashes):
            raise AtlasError(
                say(
                    "Expected each file once; got {name} twice, so leave one out.", name=shown(name)
                )
            )
        if len(self._hashes) >= self._limits.files:
            raise AtlasError(
                say(
                    "Expected at most {most:,} files; got more, so pack them as a .zip.",
                    most=self._limits.files,
                )
            )
        path, hashed = self._folder / "files" / name, hashlib.sha256()
        written, before = 0, self._bytes
        try:
            with open(path, "xb", opener=_private) as file:
                for chunk in chunks:
                    written += len(chunk)
                    self._count(len(chunk), written, name)
                    file.write(chunk)
                    hashed.update(chunk)
        except BaseException as error:
            path.unlink(missing_ok=True)
            self._bytes = before
            if isinstance(error, OSError):
                raise unwritable(error) from None
            raise
        self._hashes[name] = hashed.hexdigest()

    def finish(self) -> Upload:
        """The upload, from now on its owner's; the same contents twice are one.

        Raises AtlasError where nothing was written, or where what lies on disk by now, with what
        came in beside it, is too much.
        """
        if not self._hashes:
            raise AtlasError(say("Expected at least one file; got none, so choose some."))
        self._check_room()
        listed = "".join(f"{h}  {name}\n" for name, h in sorted(self._hashes.items()))
        target = self._folder.with_name(hashlib.sha256(listed.encode()).hexdigest())
        try:
            self._folder.rename(target)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise unwritable(error) from None
            with suppress(OSError):
                os.utime(target / "files")  # it was there: its hours begin anew
        upload = found(target, self._owner)
        if upload is None:
            raise AtlasError(
                say("Expected to keep the upload; it was removed, so upload it again.")
            )
        return upload

    def _count(self, chunk: int, written: int, name: str) -> None:
        limits = self._limits
        if written > limits.largest_file:
            raise AtlasError(
                say(
                    "Expected files of at most {most}; {name} has more, so open it by path on the "
                    "command line.",
                    most=size(limits.largest_file),
                    name=shown(name),
                )
            )
        self._bytes, self._uncounted = self._bytes + chunk, self._uncounted + chunk
        if self._bytes > limits.largest_upload:
            raise AtlasError(
                say(
                    "Expected at most {total} in one upload; got more, so open it by path on the "
                    "command line.",
                    total=size(limits.largest_upload),
                )
            )
        if self._uncounted > _COUNTED:
            self._uncounted = 0
            self._check_room()

    def _check_room(self) -> None:
        """Raises if what lies on disk, this upload's own bytes included, is beyond a quota."""
        limits, person = self._limits, self._folder.parent
        if taken(person) > limits.quota:
            raise AtlasError(
                say(
                    "Expected at most {most} of uploads for each person; this one goes beyond, so "
                    "remove others first.",
                    most=size(limits.quota),
                )
            )
        if taken(person.parent) > limits.total_quota:
            raise AtlasError(
                say(
                    "Expected at most {most} of uploads of all people; this one goes beyond, so "
                    "try again when others have expired.",
                    most=size(limits.total_quota),
                )
            )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
