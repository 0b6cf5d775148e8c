"""What sessions share: computed once, found again in memory or on disk, and let go in time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pages._shared import device, keeping, loaded, measuring, offered
from pages._shared.shelf import Shelf
from pages._shared.waiting import Report, Waiting
from viz_core import attention, texts
from viz_core.catalogue import Checkpoint
from viz_core.errors import LengthError
from viz_core.progress import ignore
from viz_core.store import Store
from viz_core.texts import Passage
from viz_core.types import Window

ROWS, COLUMNS, PLACE = (16, 48), (0, 32), (1, 2)


@pytest.fixture
def passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Everything empty; the lengths of the forward passes that were made."""
    made: list[int] = []

    def counted(model, ids, progress=ignore):  # type: ignore[no-untyped-def]
        made.append(len(ids))
        return plain(model, ids, progress)

    plain = measuring.trace
    monkeypatch.setattr(measuring, "trace", counted)
    kept, shelf = Store(tmp_path, 1 << 28), Shelf(1 << 28)
    monkeypatch.setattr(keeping, "store", lambda: kept)
    monkeypatch.setattr(device, "traces", lambda: shelf)
    for name in ("surveys", "windows"):
        monkeypatch.setattr(measuring, name, Shelf(1 << 28))
    yield made


@pytest.fixture
def rope() -> Checkpoint:
    return offered.checkpoints()[0]["rope"]


@pytest.fixture
def some(rope: Checkpoint) -> list[Passage]:
    return texts.passages("random", 64, 2, loaded.tokenizer(rope))


def zoomed(rope: Checkpoint, some: list[Passage], kind: str = "log") -> Window:
    return measuring.zoomed(rope, some, kind, PLACE, ROWS, COLUMNS, "mean", ignore)


def test_one_pass_over_a_text_serves_all_heads_views_and_parts(
    passes: list[int], rope: Checkpoint, some: list[Passage]
) -> None:
    whole = measuring.surveyed(rope, some, "log", ignore)
    assert passes == [64, 64]
    assert measuring.surveyed(rope, some, "log", ignore) is whole
    part = zoomed(rope, some)
    measuring.surveyed(rope, some, "centred", ignore)
    measuring.surveyed(rope, some, "probability", ignore, "max")
    assert passes == [64, 64]
    np.testing.assert_allclose(part.value[0], whole.windows[1].value[2, 16:48, :32], atol=1e-5)
    assert (part.rows, part.columns) == (ROWS, COLUMNS)


def test_the_store_serves_who_comes_after_a_restart(
    passes: list[int], rope: Checkpoint, some: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, part = measuring.surveyed(rope, some, "log", ignore), zoomed(rope, some)
    for name in ("surveys", "windows"):
        monkeypatch.setattr(measuring, name, Shelf(1 << 28))
    device.traces().clear()
    after = measuring.surveyed(rope, some, "log", ignore)
    assert after is not before and passes == [64, 64]
    np.testing.assert_array_equal(after.windows[3].value, before.windows[3].value)
    np.testing.assert_array_equal(zoomed(rope, some).value, part.value)
    assert passes == [64, 64]


def test_another_view_pooling_or_place_is_another_result(
    passes: list[int], rope: Checkpoint, some: list[Passage]
) -> None:
    mean = measuring.surveyed(rope, some, "probability", ignore)
    largest = measuring.surveyed(rope, some, "probability", ignore, "max")
    assert (mean.windows[0].pooling, largest.windows[0].pooling) == ("mean", "max")
    a = zoomed(rope, some)
    b = measuring.zoomed(rope, some, "log", (1, 3), ROWS, COLUMNS, "mean", ignore)
    c = measuring.zoomed(rope, some, "log", PLACE, COLUMNS, COLUMNS, "mean", ignore)
    assert not np.array_equal(a.value, b.value, equal_nan=True) and c.rows == COLUMNS


def test_nothing_of_someones_own_text_goes_to_disk(
    passes: list[int], rope: Checkpoint, tmp_path: Path
) -> None:
    own = [texts.tokens("pasted", 60, loaded.tokenizer(rope), pasted="One two three. " * 30)]
    assert own[0].own
    measuring.surveyed(rope, own, "probability", ignore)
    zoomed(rope, own, "probability")
    assert not list(tmp_path.glob("*/*"))
    measuring.surveyed(rope, [replace(own[0], own=False)], "centred", ignore)
    assert list(tmp_path.glob("*/*.safetensors"))


def test_kept_traces_make_room_for_one_that_needs_it(
    passes: list[int], rope: Checkpoint, some: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    zoomed(rope, some[:1])
    plain = measuring.trace

    def short(model, ids, progress=ignore):  # type: ignore[no-untyped-def]
        if device.traces().held:
            raise LengthError("Expected less.", 1)
        return plain(model, ids, progress)

    monkeypatch.setattr(measuring, "trace", short)
    assert zoomed(rope, some[1:]).texts == 1

    def never(model, ids, progress=ignore):  # type: ignore[no-untyped-def]
        raise LengthError("Expected less.", 1)

    monkeypatch.setattr(measuring, "trace", never)
    device.traces().clear()
    with pytest.raises(LengthError):
        measuring.surveyed(rope, some, "centred", ignore)


def test_cancelled_work_leaves_nothing_and_the_way_free(
    passes: list[int], rope: Checkpoint, some: list[Passage], tmp_path: Path
) -> None:
    def stop(done: float) -> None:
        if done > 0.4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        measuring.surveyed(rope, some, "log", stop)
    assert not list(tmp_path.glob("*/*"))
    assert measuring.surveyed(rope, some, "log", ignore).windows


def test_who_waits_in_line_knows_their_place_and_can_give_up(
    passes: list[int], rope: Checkpoint, some: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages._shared.line.PATIENCE", 0.01)
    heard = list[int]()

    class Stands(Report):
        def stands(self, before: int) -> None:
            heard.append(before)
            raise InterruptedError

    report = Stands(Waiting(None), "RoPE")  # type: ignore[arg-type]
    with device.line.turn(), pytest.raises(InterruptedError):
        measuring.surveyed(rope, some, "log", report)
    assert passes == [] and heard == [1] and device.line.length == 0
    assert measuring.surveyed(rope, some, "log", ignore).windows


def test_what_is_kept_is_there_for_those_who_come_while_others_compute(
    passes: list[int], rope: Checkpoint, some: list[Passage], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = measuring.surveyed(rope, some, "log", ignore)
    with device.line.turn():  # nobody else would get a turn
        assert measuring.surveyed(rope, some, "log", ignore) is before
        monkeypatch.setattr(measuring, "surveys", Shelf(1 << 28))
        found = measuring.surveyed(rope, some, "log", ignore)
    np.testing.assert_array_equal(found.windows[1].value, before.windows[1].value)


def test_windows_from_the_core_and_from_here_are_the_same(
    passes: list[int], rope: Checkpoint, some: list[Passage]
) -> None:
    one = measuring.trace(loaded.model(rope), some[0].ids)
    direct = attention.window(one, 1, ROWS, COLUMNS, heads=slice(2, 3))
    np.testing.assert_array_equal(zoomed(rope, some, "probability").value, direct.value)
