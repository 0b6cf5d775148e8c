"""A full disk, and a store that can't be written: pages go on, and say what they can't do."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages._server import routes
from tests.faults.conftest import Start, kept, opened, seen
from tests.pages import checkpoint_files
from tests.visiting import visit
from viz_core.readers.intake import incoming

SAID = "can't store results"


class Full(io.BytesIO):
    """A file on a disk that is full after 1,000 bytes."""

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > 1000:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)


@pytest.fixture
def full() -> Iterator[pytest.MonkeyPatch]:
    """A full disk for results; undone, it has room again."""
    plain = Path.open
    patch = pytest.MonkeyPatch()

    def filled(self: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if self.suffix == ".partial":
            plain(self, mode).close()  # a name still fits
            return Full()
        return plain(self, mode, *rest, **more)

    patch.setattr(Path, "open", filled)
    yield patch
    patch.undo()


def captions(app: AppTest) -> str:
    return " ".join(c.value for c in app.caption)


def test_on_a_full_disk_pages_are_right_and_nothing_half_written_stays(
    start: Start, tmp_path: Path, full: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monitor = logging.getLogger("atlas")
    monitor.addHandler(caplog.handler)
    store = start(tmp_path / "full")
    during = opened()
    monitor.removeHandler(caplog.handler)
    assert "No space left" in caplog.text
    assert SAID in captions(during) and str(tmp_path) not in captions(during)
    assert not kept(store) and "No space left" in str(store.trouble)
    full.undo()
    after = opened(a="rope.1.1")  # ALiBi's results are needed no more, RoPE's are in memory
    assert SAID in captions(after)  # nothing was stored since
    store = start(tmp_path / "roomy")
    assert seen(opened()) == seen(during)
    assert SAID not in captions(opened()) and len(kept(store)) == 2


def test_a_store_that_cannot_be_written_is_said_to_people_and_to_machines(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("A file, where a folder should be.")
    store = start(tmp_path / "file" / "store")
    during = opened()
    assert SAID in captions(during) and not kept(store)
    start(tmp_path / "store")
    assert seen(opened()) == seen(during)
    monkeypatch.setenv("ATLAS_STORE", str(tmp_path / "file" / "store"))
    with ThreadPoolExecutor(1) as other:  # browser tests leave a loop running in this thread
        answer = other.submit(asyncio.run, routes.health(None)).result()  # type: ignore[arg-type]
    assert answer.status_code == 503 and "can't be written" in json.loads(answer.body)["wrong"][0]


def test_an_upload_onto_a_full_disk_is_one_sentence_and_leaves_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = start(tmp_path / "store")
    file = checkpoint_files.native_file(tmp_path / "mine.safetensors")
    monkeypatch.setattr(incoming, "open", lambda *a, **k: Full(), raising=False)
    app = visit(opened(), "checkpoints").run()
    app.file_uploader[0].set_value([(file.name, file.read_bytes(), "application/octet-stream")])
    app.run()
    assert not app.exception and "no room is left" in app.error[0].value
    assert not [p for p in (store.folder / "uploads").rglob("*") if p.is_file()]
