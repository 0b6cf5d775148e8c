"""One cell computed: the library's numbers under the right key, or a reason in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.jobs.conftest import saved
from viz_core import catalogue, packing, perplexity, portraits, survey, texts, variants
from viz_core.jobs import losses, planning, spec
from viz_core.jobs.cell import Cell
from viz_core.jobs.work import Work
from viz_core.readers import native
from viz_core.trace import trace

Write = Callable[..., Path]


def planned(path: Path) -> list[Cell]:
    return planning.plan(spec.read(path))


def test_results_are_the_librarys(write: Write, folder: Path, work: Work) -> None:
    cells = planned(
        write(
            "[perplexity]\ndocuments = 2",
            checkpoints='["rope.safetensors"]',
            lengths="[256]",
            scalings='["linear:2"]',
            measurements='["maps", "signatures", "perplexity"]',
        )
    )
    assert [work(c).status for c in cells] == ["computed"] * 3
    entries = [work.store().get(c.key) for c in cells if c.key]
    maps, signatures, scored = (e for e in entries if e is not None)
    rope = catalogue.find(str(folder / "rope.safetensors"))
    model, pieces = rope.load(), rope.tokenizer()
    varied = variants.vary(model, "linear:2", 256)
    ids = [p.ids for p in texts.passages("python-docs", 256, 2, pieces)]
    seen = survey.survey(lambda some, progress: trace(varied, some, progress), ids, "log")
    np.testing.assert_array_equal(packing.unpack(maps).windows[1].value, seen.windows[1].value)
    portrait = portraits.measure(varied, ids, pieces, "linear:2")
    np.testing.assert_allclose(packing.unpack_portrait(signatures).slope, portrait.slope, rtol=1e-6)
    rows = perplexity.measure(
        model, texts.samples("python-docs", 256, pieces, 2), [256], setting="linear:2"
    )
    (row,) = losses.unpack(scored)
    assert replace(row, seconds=0.0) == replace(rows[0], seconds=0.0)


def test_losses_are_the_same_after_the_store() -> None:
    rows = [
        perplexity.Row("", "per-position", 300, 1, 31, loss=4.5, loss_low=4.0, tokens=62),
        perplexity.Row("", "per-position", 300, 32, 44, note="none here"),
    ]
    arrays, about = losses.pack(rows)
    assert losses.unpack(packing.Entry(arrays, about)) == rows


def test_what_is_there_is_not_computed_again(
    write: Write, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cell, _) = planned(write())
    assert work(cell).status == "computed"
    monkeypatch.setattr(portraits, "measure", lambda *a: pytest.fail("computed again"))
    assert work(cell).status == "found"


def test_weights_that_are_no_numbers_are_a_reason(write: Write, folder: Path, work: Work) -> None:
    path = folder / "rope.safetensors"
    model = native.read(path)[0]
    with torch.no_grad():
        model.embedding.weight[0, 0] = torch.nan
    native.save(model, path, {})
    (cell,) = planned(write(checkpoints='["rope.safetensors"]'))
    outcome = work(cell)
    assert outcome.status == "failed" and "finite weights in rope.safetensors" in outcome.reason


def test_a_checkpoint_that_changed_since_is_a_reason(
    write: Write, folder: Path, work: Work
) -> None:
    (cell,) = planned(write(checkpoints='["rope.safetensors"]'))
    saved(folder / "rope.safetensors", "rope", seed=7)
    outcome = work(cell)
    assert outcome.status == "failed" and "its file has changed" in outcome.reason
    assert cell.key and outcome.digest == cell.key.digest and work.store().get(cell.key) is None


def test_another_text_here_than_there_is_a_reason(write: Write, work: Work) -> None:
    (cell, _) = planned(write())
    assert cell.key
    outcome = work(replace(cell, key=replace(cell.key, texts=("0" * 64,))))
    assert outcome.status == "failed" and "the same text python-docs" in outcome.reason


def test_a_store_that_keeps_nothing_is_a_reason(write: Write, tmp_path: Path) -> None:
    (cell, _) = planned(write())
    outcome = Work(tmp_path / "store", 100)(cell)
    assert outcome.status == "failed" and "at most 100 bytes" in outcome.reason


def test_a_bug_in_one_cell_is_a_reason_with_its_kind(
    write: Write, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(portraits, "measure", broken)
    (cell, _) = planned(write())
    assert work(cell).reason == "ZeroDivisionError: by zero"


def test_whoever_watches_may_cancel_within_a_cell(write: Write, work: Work) -> None:
    class Cancelled(Exception):
        pass

    def stop(done: float) -> None:
        if done > 0.5:
            raise Cancelled

    (cell, _) = planned(write())
    with pytest.raises(Cancelled):
        work(cell, stop)
    assert cell.key and work.store().get(cell.key) is None
