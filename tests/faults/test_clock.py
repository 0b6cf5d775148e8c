"""A clock that jumps: results stay, and an upload under way ends whole or with a sentence."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pages import _start
from pages._shared import uploads_room
from tests.faults.conftest import Start, kept, opened, seen
from viz_core import store as stores
from viz_core.errors import AtlasError
from viz_core.store import RunKey, Store

Move = Callable[[float], None]
HOUR, OWNER = 3600.0, "ada"
JUMPS = {"two hours on": 2 * HOUR, "ten days on": 240 * HOUR, "ten days back": -240 * HOUR}


@pytest.fixture
def move(monkeypatch: pytest.MonkeyPatch) -> Move:
    """`move(seconds)`: the machine's clock is set to another time."""
    real = time.time

    def jump(seconds: float) -> None:
        monkeypatch.setattr(time, "time", lambda: real() + seconds)

    return jump


@pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)
def test_results_are_found_again_after_the_clock_was_moved(
    jump: float, start: Start, tmp_path: Path, move: Move
) -> None:
    store = start(tmp_path)
    right = seen(opened())
    before = kept(store)
    move(jump)
    store = start(tmp_path)
    assert seen(opened()) == right and kept(store) == before


def test_a_result_that_is_written_while_the_clock_jumps_is_whole_or_absent(
    tmp_path: Path, move: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server sweeps meanwhile, and takes the unfinished file for an abandoned one."""
    key = RunKey("c" * 64, "", ("a" * 64,), 64, "float32", "survey")
    arrays, store = {"value": np.arange(1000.0)}, Store(tmp_path, 1 << 24)
    plain = stores.os.replace

    def interrupted(source: Path, target: Path) -> None:
        move(2 * HOUR)
        Store(tmp_path, 1 << 24)
        plain(source, target)

    monkeypatch.setattr(stores.os, "replace", interrupted)
    assert not store.put(key, arrays, {}) and "computed anew" in str(store.trouble)
    assert store.get(key) is None and not kept(store)
    monkeypatch.setattr(stores.os, "replace", plain)
    assert store.put(key, arrays, {}) and store.get(key) is not None


@pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)
def test_an_upload_under_way_is_finished_or_refused_with_a_sentence(
    jump: float, start: Start, tmp_path: Path, move: Move
) -> None:
    start(tmp_path)
    room = uploads_room.uploads()
    finished = None
    try:
        with room.begin(OWNER) as incoming:
            incoming.write("config.json", [b"{}"])
            move(jump)
            room.expire(time.time())  # as another visitor's page does
            incoming.write("model.safetensors", [b"weights"])
            finished = incoming.finish()
    except AtlasError as error:
        assert jump > 0 and "Could not keep the upload" in str(error)
    assert [u.id for u in room.list(OWNER)] == ([finished.id] if finished else [])


def test_a_clock_that_was_wrong_for_a_while_takes_no_upload_with_it(
    start: Start, tmp_path: Path, move: Move
) -> None:
    start(tmp_path)
    room = uploads_room.uploads()
    with room.begin(OWNER) as incoming:
        incoming.write("model.safetensors", [b"weights"])
        id = incoming.finish().id
    for jump in (-240 * HOUR, 23 * HOUR, 0.0):
        move(jump)
        room.expire(time.time())
        assert [u.id for u in room.list(OWNER)] == [id]


def test_what_expired_while_no_server_ran_goes_when_one_starts(
    start: Start, tmp_path: Path, move: Move
) -> None:
    start(tmp_path)
    room = uploads_room.uploads()
    with room.begin(OWNER) as incoming:
        incoming.write("model.safetensors", [b"weights"])
        incoming.finish()
    _start._expire()
    assert room.list(OWNER)
    move(25 * HOUR)
    _start._expire()
    assert not room.list(OWNER)
