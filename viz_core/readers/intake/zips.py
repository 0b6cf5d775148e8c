"""A zip archive, opened so that not even its list of entries can take more than allowed.

Python's reader believes what an archive says of the length of its own list. Here it reads through a
file that hands out no more at once than the list of the most entries allowed can take.
"""

from __future__ import annotations

import io
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.words import damaged, shown
from viz_core.words import say

_LISTED = 512  # bytes in the list for one entry: 46, its name and times of several systems
_PIECE = 1 << 20  # bytes
# What zipfile raises for broken archives, beside its own error.
_BROKEN = (
    BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)


@contextmanager
def opened(path: Path, limits: Limits) -> Iterator[tuple[ZipFile, list[ZipInfo]]]:
    """The archive `path` and its entries that are files, each a plain one.

    Raises DamagedCheckpoint for a broken archive, and for entries that are too many, encrypted,
    links, devices, twice there, packed in another way than deflate, or that share their bytes.
    """
    with ExitStack() as stack:
        with _reading(path):
            file = stack.enter_context(_Bounded(path, limits.entries * _LISTED))
            archive = stack.enter_context(ZipFile(file))
        entries = archive.infolist()
        _check(entries, path, limits)
        # Not is_dir(), which takes a name to have a last letter.
        yield archive, [entry for entry in entries if not entry.orig_filename.endswith("/")]


def pieces(path: Path, archive: ZipFile, entry: ZipInfo) -> Iterator[bytes]:
    """The content of an entry. Raises DamagedCheckpoint where it is broken."""
    with _reading(path):
        packed = archive.open(entry)
    with packed:
        while True:
            with _reading(path):
                piece = packed.read(_PIECE)
            if not piece:
                return
            yield piece


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        why = (isinstance(error, OSError) and error.strerror) or say("broken or cut off")
        raise damaged(
            path,
            say("a zip archive"),
            say("it can't be read ({why})", why=why),
            say("pack or download it again"),
        ) from None


class _Bounded(io.FileIO):
    """A file of which no single read gives more than `most` bytes."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(path)
        self._most = most

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > self._most:
            raise BadZipFile
        return super().read(self._most if size is None or size < 0 else size) or b""


def _check(entries: list[ZipInfo], path: Path, limits: Limits) -> None:
    if len(entries) > limits.entries:
        raise damaged(
            path,
            say("at most {most:,} entries", most=limits.entries),
            say("it has {n:,}", n=len(entries)),
            say("raise the limit 'entries' if it is right"),
        )
    if len({entry.filename for entry in entries}) < len(entries):
        raise damaged(path, say("each name once"), say("one is there twice"), say("pack it again"))
    if sum(entry.compress_size for entry in entries) > path.stat().st_size:
        raise damaged(
            path,
            say("entries with bytes of their own"),
            say("they take more than the file"),
            say("pack it again"),
        )
    for entry in entries:
        kind = stat.S_IFMT(entry.external_attr >> 16)  # 0 where packed on Windows
        if entry.flag_bits & 0x41:
            came = say("{name} is encrypted", name=shown(entry.filename))
        elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            came = say("{name} is a link or a device", name=shown(entry.filename))
        elif entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            came = say(
                "{name} is packed by method {method}, not by deflate",
                name=shown(entry.filename),
                method=entry.compress_type,
            )
        else:
            continue
        raise damaged(path, say("plain files"), came, say("pack it again"))
