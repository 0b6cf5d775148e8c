"""What a sweep has computed, the app finds in the store, and the other way round."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pages._shared import keeping, measuring
from viz_core import catalogue, portraits, survey, texts
from viz_core.jobs import planning, spec, sweep
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work
from viz_core.progress import ignore
from viz_core.texts import Passage

Write = Callable[..., Path]


@pytest.fixture
def opened(
    folder: Path, work: Work, monkeypatch: pytest.MonkeyPatch
) -> tuple[catalogue.Checkpoint, list[Passage]]:
    """A checkpoint and passages as a page opens them, with the sweep's store as the app's."""
    store = work.store()
    monkeypatch.setattr(keeping, "store", lambda: store)
    checkpoint = catalogue.find(str(folder / "rope.safetensors"))
    return checkpoint, texts.passages("python-docs", 96, 2, checkpoint.tokenizer())


def test_the_app_finds_what_a_sweep_computed(
    write: Write,
    work: Work,
    opened: tuple[catalogue.Checkpoint, list[Passage]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measurements = '["maps", "signatures"]'
    cells = planning.plan(spec.read(write(measurements=measurements, scalings='["linear:2"]')))
    sweep.run([c for c in cells if c.encoding == "rope"], work, Limits())
    for module, name in ((survey, "survey"), (portraits, "measure")):
        monkeypatch.setattr(module, name, lambda *a, **k: pytest.fail("computed again"))
    seen = measuring.surveyed(*opened, "log", ignore, setting="linear:2")
    assert seen.windows[0].texts == 2 and np.isfinite(seen.slopes[0]).all()
    assert measuring.portrayed(*opened, "linear:2", ignore).setting == "linear:2"


def test_a_sweep_finds_what_the_app_computed(
    write: Write, work: Work, opened: tuple[catalogue.Checkpoint, list[Passage]]
) -> None:
    measuring.surveyed(*opened, "centred", ignore)
    measuring.portrayed(*opened, "", ignore)
    path = write(
        "[maps]\nview = 'centred'",
        checkpoints='["rope.safetensors"]',
        measurements='["maps", "decay", "signatures"]',
    )
    found = sweep.look(planning.plan(spec.read(path)), work.store())
    assert [r.outcome.status for r in found] == ["found"] * 3
