"""The table of a sweep: a row per layer and head, losses, and a row for what there is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from viz_core import packing
from viz_core.jobs import planning, spec, sweep, tables
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work
from viz_core.signatures import summary

Write = Callable[..., Path]


def test_numbers_stand_beside_what_they_are_of(write: Write, work: Work) -> None:
    cells = planning.plan(
        spec.read(
            write(
                "[perplexity]\ndocuments = 2",
                checkpoints='["step-000200.safetensors", "learned.safetensors"]',
                lengths="[300]",
                measurements='["maps", "decay", "signatures", "perplexity"]',
            )
        )
    )
    found = sweep.run(cells, work, Limits())
    store = work.store()
    frame = tables.table(found, store)
    rope, learned = frame[frame.encoding == "rope"], frame[frame.encoding == "learned"]
    assert list(learned.status) == ["undefined"] * 4 and learned["layer"].isna().all()
    assert set(learned.reason) == {"Learned is undefined past its 256 trained positions."}
    assert list(rope.measurement) == ["maps"] * 4 + ["decay"] * 4 + ["signatures"] * 4 + [
        "perplexity"
    ]
    assert set(rope.step) == {200} and set(rope.tokens_seen) == {20000}
    assert str(frame.dtypes["layer"]) == str(frame.dtypes["step"]) == "Int64"
    places = rope[rope.measurement == "signatures"][["layer", "head"]].to_numpy().tolist()
    assert places == [[1, 1], [1, 2], [2, 1], [2, 2]]

    key = next(c.key for c in cells if c.measurement == "signatures" and c.key)
    entry = store.get(key)
    assert entry is not None
    wanted = summary.rows(packing.unpack_portrait(entry))
    signatures = rope[rope.measurement == "signatures"].reset_index()
    for name in ("slope", "reach_90", "ripple", "ripple_p", "sink", "entropy", "kind"):
        assert list(signatures[name]) == [row[name] for row in wanted]
    assert (signatures.swing > 0).all() and (signatures.swing_noise > 0).all()
    decay = rope[rope.measurement == "decay"].reset_index()
    assert list(decay.slope) == list(signatures.slope)
    assert decay.ripple.isna().all() and decay.swing.isna().all() and decay.reach_50.notna().all()

    maps = rope[rope.measurement == "maps"].reset_index()
    assert list(maps.slope) == pytest.approx(list(signatures.slope), rel=1e-5)
    assert maps.glance_reach.between(1, 300).all() and maps.glance_entropy.between(0, 1).all()
    (loss,) = rope[rope.measurement == "perplexity"].itertuples()
    assert loss.documents == 2 and loss.tokens == 512 and loss.loss_low <= loss.loss
    assert pd.isna(loss.layer) and loss.protocol == "fixed-targets"


def test_a_result_that_the_store_has_lost_is_missing(write: Write, work: Work) -> None:
    found = sweep.run(planning.plan(spec.read(write())), work, Limits())
    empty = replace(work, folder=work.folder / "other").store()
    frame = tables.table(found, empty)
    assert list(frame.status) == ["missing"] * 2 and set(frame.reason) == {tables.GONE}
    assert list(tables.table([], empty).columns)[:2] == ["checkpoint", "encoding"]
