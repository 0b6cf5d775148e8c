"""Files that come in: one upload is checked at a time, and who waits is told so."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest

from pages._shared import line, uploads_room
from pages.checkpoints import admission
from pages.checkpoints.admission import File
from tests.pages import checkpoint_files
from viz_core.readers.intake import Limits, Uploads, admitted


class Place:
    """Stands in for a place on the page, and keeps what was written there."""

    def __init__(self) -> None:
        self.written = list[str]()

    def empty(self) -> None:
        self.written.append("")

    def progress(self, done: float, text: str) -> None:
        self.written.append(text)


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Uploads:
    found = Uploads(tmp_path / "uploads", Limits.read())
    monkeypatch.setattr(uploads_room, "uploads", lambda: found)
    monkeypatch.setattr(uploads_room, "owner", lambda: "ada")
    monkeypatch.setattr(line, "PATIENCE", 0.01)
    return found


def test_an_upload_waits_for_the_one_before(room: Uploads, tmp_path: Path) -> None:
    content = checkpoint_files.native_file(tmp_path / "mine.safetensors").read_bytes()
    file, place = File("mine.safetensors", io.BytesIO(content), len(content)), Place()
    coming = threading.Thread(target=admission.take, args=([file], place))
    with admission.checking.turn():
        coming.start()
        while "Waiting to check the files: 1 before you" not in place.written:
            assert coming.is_alive()
        (upload,) = room.list("ada")
        assert admitted(upload.admitted) is None
    coming.join()
    assert admitted(upload.admitted) is not None and place.written[-1] == ""


def test_who_gives_up_while_waiting_leaves_nothing(room: Uploads, tmp_path: Path) -> None:
    content = checkpoint_files.native_file(tmp_path / "mine.safetensors").read_bytes()

    class Leaves(Place):
        def progress(self, done: float, text: str) -> None:
            raise InterruptedError

    file = File("mine.safetensors", io.BytesIO(content), len(content))
    with admission.checking.turn(), pytest.raises(InterruptedError):
        admission.take([file], Leaves())  # type: ignore[arg-type]
    assert not room.list("ada") and admission.checking.length == 0
