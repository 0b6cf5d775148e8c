"""Figures of a sweep: those that its results allow, as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from viz_core.jobs import drawn, planning, spec, sweep
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work

Write = Callable[..., Path]


def files(path: Path, work: Work, into: Path) -> list[str]:
    found = sweep.run(planning.plan(spec.read(path)), work, Limits())
    return [p.name for p in drawn.draw(found, work.store(), into, "the command")]


def test_the_steps_of_a_training_are_one_figure_for_each_length(
    write: Write, work: Work, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("ATLAS_STORE", str(work.folder))  # where the decay of each step is found
    both = write(checkpoints='["step-*.safetensors", "alibi.safetensors"]', lengths="[96, 120]")
    named = files(both, work, tmp_path / "both")
    steps = [name for name in named if name.startswith("emergence")]
    assert steps == ["emergence-python-docs-96.pdf", "emergence-python-docs-120.pdf"]
    assert (tmp_path / "both" / steps[0]).read_bytes().startswith(b"%PDF")
    one = write(checkpoints='["step-000010.safetensors", "alibi.safetensors"]')
    assert not [n for n in files(one, work, tmp_path / "one") if n.startswith("emergence")]
