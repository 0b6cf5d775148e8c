"""A .zip of a checkpoint's files, unpacked into a fresh folder: flat, counted, all or nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from viz_core.errors import AtlasError, DamagedCheckpoint
from viz_core.progress import Progress, ignore
from viz_core.readers.intake import names, zips
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.words import damaged, shown, size
from viz_core.words import say


def extract(path: Path, into: Path, limits: Limits, progress: Progress = ignore) -> list[str]:
    """Unpacks the files of a checkpoint in `path` into the new folder `into`.

    Returns the names that were left out: not on the list of `names`, or deeper than one folder
    (an archive inside is never opened). Raises DamagedCheckpoint for a broken or hostile archive
    and one beyond `limits`, AtlasError where the disk is full; then there is no folder.
    `progress(done)` may raise, to cancel.
    """
    into.mkdir(mode=0o700)
    try:
        with zips.opened(path, limits) as (archive, entries):
            # Not `filename`, which zipfile has cut off at the first NUL.
            choice = names.choose([e.orig_filename for e in entries], archives=False)
            taken = [entry for entry in entries if entry.orig_filename in choice.taken]
            _check(path, taken, limits)
            counter = _Counter(path, limits, sum(entry.file_size for entry in taken), progress)
            for entry in taken:
                _unpack(archive, entry, into / choice.taken[entry.orig_filename], counter)
    except BaseException:
        shutil.rmtree(into, ignore_errors=True)
        raise
    return choice.left_out


class _Counter:
    """Bytes as they are unpacked, whatever the archive has claimed."""

    def __init__(self, path: Path, limits: Limits, claimed: int, progress: Progress) -> None:
        self.path, self.limits, self.claimed = path, limits, max(1, claimed)
        self.most, self.done, self.progress = _most(path, limits), 0, progress

    def add(self, piece: int) -> None:
        self.done += piece
        if self.done > self.most:
            raise _bomb(self.path, self.limits)
        self.progress(min(1.0, self.done / self.claimed))


def _unpack(archive: ZipFile, entry: ZipInfo, target: Path, counter: _Counter) -> None:
    written = 0
    with open(target, "xb", opener=_private) as file:
        for piece in zips.pieces(counter.path, archive, entry):
            written += len(piece)
            if written > counter.limits.largest_file:
                raise _too_large(counter.path, target.name, counter.limits)
            counter.add(len(piece))
            try:
                file.write(piece)
            except OSError as error:
                raise AtlasError(
                    say(
                        "Could not unpack {name} ({why}); free space on the disk of the server.",
                        name=shown(counter.path.name),
                        why=error.strerror,
                    )
                ) from None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _check(path: Path, taken: list[ZipInfo], limits: Limits) -> None:
    """What the archive says itself, before anything is unpacked."""
    if len(taken) > limits.files:
        raise damaged(
            path,
            say("at most {most:,} files of a checkpoint", most=limits.files),
            say("it has {n:,}", n=len(taken)),
            say("raise the limit 'files' if it is right"),
        )
    for entry in taken:
        if entry.file_size > limits.largest_file:
            raise _too_large(path, entry.filename, limits)
    if sum(entry.file_size for entry in taken) > _most(path, limits):
        raise _bomb(path, limits)


def _most(path: Path, limits: Limits) -> int:
    """Bytes that it may unpack to: an upload is at most so large, packed or not."""
    return min(limits.ratio * path.stat().st_size, limits.largest_upload)


def _too_large(path: Path, name: str, limits: Limits) -> DamagedCheckpoint:
    return damaged(
        path,
        say("files of at most {most}", most=size(limits.largest_file)),
        say("{name} has more", name=shown(name)),
        say("raise the limit 'largest_file' if it is right"),
    )


def _bomb(path: Path, limits: Limits) -> DamagedCheckpoint:
    return damaged(
        path,
        say(
            "at most {most} once unpacked ({ratio} times its size, and {total} in all)",
            most=size(_most(path, limits)),
            ratio=limits.ratio,
            total=size(limits.largest_upload),
        ),
        say("there is more"),
        say("give its files one by one, or raise the limits 'ratio' and 'largest_upload'"),
    )
