"""Taking files in: to disk in pieces, checked, and described; nothing is left of what isn't fit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from streamlit.delta_generator import DeltaGenerator

from pages._shared import uploads_known, uploads_room
from pages._shared.line import Line
from viz_core import readers
from viz_core.errors import AtlasError
from viz_core.progress import Progress
from viz_core.readers.intake import Upload, admit, admitted, choose
from viz_core.readers.intake.words import listed
from viz_core.words import mark, say

PIECE = 1 << 20  # bytes
PAUSE = 1 / 8  # seconds between two writes to the page
KEEPING = mark("Keeping the files: {percent} %")
CHECKING = mark("Checking the files: {percent} %")
checking = Line()  # one upload at a time: a check reads all of it, and may convert it in memory


@dataclass(frozen=True)
class File:
    """A file that comes in: its name, as it was given, its bytes, and how many there are."""

    name: str
    content: BinaryIO
    size: int

    def pieces(self) -> Iterator[bytes]:
        """The content from its start, piece by piece."""
        self.content.seek(0)
        while piece := self.content.read(PIECE):
            yield piece


def paths(some: Sequence[Path], place: DeltaGenerator) -> Upload:
    """The upload made of files of the server; as `take`."""
    with ExitStack() as stack:
        files = [File(p.name, stack.enter_context(p.open("rb")), p.stat().st_size) for p in some]
        return take(files, place)


def take(files: Sequence[File], place: DeltaGenerator) -> Upload:
    """The upload made of `files`; `place` shows how far it is.

    Raises AtlasError for what isn't fit, or isn't a checkpoint; nothing of it is kept then.
    """
    chosen = choose(file.name for file in files)
    kept = [(file, chosen.taken[file.name]) for file in files if file.name in chosen.taken]
    if not kept:
        raise AtlasError(
            say(
                "Expected a checkpoint's files (.safetensors, .pt, .pth, .ckpt, .bin, .gguf with "
                "their JSON, or a .zip of them); got {names}, so choose others.",
                names=listed(chosen.left_out, 3),
            )
        )
    room, owner = uploads_room.uploads(), uploads_room.owner()
    show = _bar(place, KEEPING)
    total, done = max(1, sum(file.size for file, _ in kept)), 0
    with room.begin(owner) as incoming:
        for file, name in kept:
            incoming.write(name, _watched(file, done, total, show))
            done += file.size
        upload = incoming.finish()
    if admitted(upload.admitted) is None:
        try:
            with checking.turn(lambda before: _stands(place, before)):
                found = admit(upload.paths, upload.admitted, room.limits, _bar(place, CHECKING))
            readers.describe(uploads_known.place(found))
        except BaseException:  # a rerun in the midst of it, too
            room.remove(owner, upload.id)
            raise
    place.empty()
    return upload


def _watched(file: File, before: int, total: int, show: Progress) -> Iterator[bytes]:
    for piece in file.pieces():
        before += len(piece)
        yield piece
        show(before / total)


def _stands(place: DeltaGenerator, before: int) -> None:
    """Says in `place` that other uploads are checked first; who leaves the page leaves the line."""
    place.progress(0.0, say("Waiting to check the files: {n:,} before you", n=before))


def _bar(place: DeltaGenerator, what: str) -> Progress:
    """Says `what` in `place`, and how far it is, a few times a second; a change there may raise."""
    due = [time.monotonic() + PAUSE]

    def report(done: float) -> None:
        if time.monotonic() >= due[0]:
            due[0] = time.monotonic() + PAUSE
            place.progress(min(done, 1.0), say(what, percent=int(100 * min(done, 1.0))))

    return report
