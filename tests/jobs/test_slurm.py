"""The executor for Slurm without one: how cells become tasks, and what becomes of lost ones.

A stand-in takes submitit's place and runs tasks at once; the real thing is tested by `make slurm`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from viz_core.errors import AtlasError
from viz_core.jobs import planning, slurm, spec, sweep
from viz_core.jobs.cell import Cell, Outcome
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work

Write = Callable[..., Path]


class Job:
    """One task, which may be lost (no result) or fail as a whole."""

    def __init__(self, number: int, folder: Path) -> None:
        self.job_id, self.error, self.outcomes = f"7_{number}", None, list[Outcome]()
        self.paths = SimpleNamespace(
            result_pickle=folder / f"{number}.pkl", stderr=folder / f"{number}.err"
        )

    def exception(self) -> Exception | None:
        return self.error

    def result(self) -> list[Outcome]:
        return self.outcomes


class Cluster:
    """What was asked of submitit and of Slurm's commands."""

    def __init__(self) -> None:
        self.asked, self.commands, self.tasks = dict[str, Any](), list[list[str]](), 0
        self.lost: set[int] = set()
        self.broken: set[int] = set()

    def executor(self, folder: Path, max_num_timeout: int) -> Any:
        def map_array(task: slurm.Task, parts: Sequence[Sequence[Cell]]) -> list[Job]:
            self.tasks = len(parts)
            jobs = [Job(i, folder) for i in range(len(parts))]
            for i, (job, part) in enumerate(zip(jobs, parts, strict=True)):
                if i in self.lost:
                    job.paths.stderr.write_text("starting\nout of memory\n\n", encoding="utf-8")
                    continue
                if i in self.broken:
                    job.error = RuntimeError("trace:\n---\nOSError: no disk\n---\nfull logs: x")
                else:
                    job.outcomes = task(part)
                job.paths.result_pickle.touch()
            return jobs

        return SimpleNamespace(map_array=map_array, update_parameters=self.asked.update)

    def run(self, command: list[str], **more: Any) -> Any:
        self.commands.append(command)
        return SimpleNamespace(returncode=1, stdout="", stderr="error: Invalid job id specified")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made, module = Cluster(), ModuleType("submitit")
    module.SlurmExecutor = made.executor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "submitit", module)
    monkeypatch.setitem(sys.modules, "submitit.helpers", ModuleType("submitit.helpers"))
    monkeypatch.setattr(slurm.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(slurm.subprocess, "run", made.run)
    for name in ("PATIENCE", "ASKING", "GRACE"):
        monkeypatch.setattr(slurm, name, 0.0)
    return made


def planned(path: Path) -> list[Cell]:
    return planning.plan(spec.read(path))


def test_limits_reach_slurm_and_results_the_store(
    write: Write, work: Work, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_CORPUS", "texts")
    cells = planned(write(lengths="[96, 100, 104]"))
    limits = Limits("slurm", minutes=7, memory_gb=1.5, cpus=3, gpus=2, at_once=5, tasks=4)
    found = sweep.run(cells, work, limits)
    assert [r.outcome.status for r in found] == ["computed"] * 6
    assert cluster.tasks == 3 and not cluster.commands  # two cells each, and nothing to cancel
    assert not list((work.folder / "jobs").iterdir())  # nor logs that anyone needs
    asked = cluster.asked
    assert (asked["time"], asked["mem"], asked["cpus_per_task"]) == (7, "1536MB", 3)
    assert (asked["gpus_per_node"], asked["array_parallelism"]) == (2, 5)
    assert "partition" not in asked and asked["additional_parameters"] == {"requeue": True}
    assert f"export ATLAS_STORE={work.folder}" in asked["setup"]
    assert f"export ATLAS_CORPUS={Path('texts').resolve()}" in asked["setup"]


def test_lost_and_broken_tasks_fail_alone(write: Write, work: Work, cluster: Cluster) -> None:
    cluster.lost, cluster.broken = {0}, {2}
    found = sweep.run(planned(write(lengths="[96, 100]")), work, Limits("slurm"))
    assert [r.outcome.status for r in found] == ["failed", "computed", "failed", "computed"]
    assert "7_0 of Slurm ended without a result" in found[0].outcome.reason
    assert found[0].outcome.reason.endswith("the last line of its log is: out of memory")
    assert found[2].outcome.reason == "Its task 7_2 of Slurm failed: OSError: no disk"
    (logs,) = (work.folder / "jobs").iterdir()
    assert logs.stat().st_mode & 0o77 == 0 and (logs / "0.err").is_file()


def test_what_slurm_refuses_is_said(
    write: Write, work: Work, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refused(Exception):
        pass

    def refuse(*given: object, **more: object) -> None:
        raise Refused("sbatch failed\nsbatch: error: invalid partition specified: nix\n")

    core = SimpleNamespace(utils=SimpleNamespace(FailedJobError=Refused))
    monkeypatch.setattr(sys.modules["submitit"], "core", core, raising=False)
    executor = SimpleNamespace(map_array=refuse, update_parameters=cluster.asked.update)
    monkeypatch.setattr(sys.modules["submitit"], "SlurmExecutor", lambda **more: executor)
    with pytest.raises(AtlasError, match=r"refused \(invalid partition specified: nix\), so"):
        sweep.run(planned(write()), work, Limits("slurm", partition="nix"))
    assert not list((work.folder / "jobs").iterdir())


def test_a_queue_that_does_not_answer_is_no_reason_to_give_up(
    write: Write, work: Work, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.lost, answers = {0}, iter(["down", "slow", "there", "gone", "gone"])

    def run(command: list[str], **more: Any) -> Any:
        answer = next(answers)
        if answer == "slow":
            raise subprocess.TimeoutExpired(command, 60)
        gone = "error: Invalid job id specified" * (answer == "gone")
        status, shown = (0, "7_0\n") if answer == "there" else (1, "")
        return SimpleNamespace(returncode=status, stdout=shown, stderr=gone or "error: no answer")

    monkeypatch.setattr(slurm.subprocess, "run", run)
    monkeypatch.setattr(slurm, "GRACE", 1e-9)
    found = sweep.run(planned(write()), work, Limits("slurm"))
    assert [r.outcome.status for r in found] == ["failed", "computed"]
    assert next(answers, None) is None


def test_who_cancels_cancels_the_array(write: Write, work: Work, cluster: Cluster) -> None:
    class Cancelled(Exception):
        pass

    def stop(done: float) -> None:
        if done > 0:
            raise Cancelled

    cluster.lost = {0}
    with pytest.raises(Cancelled):
        sweep.run(planned(write()), work, Limits("slurm"), stop)
    assert cluster.commands[-1] == ["scancel", "7"]


def test_without_submitit_or_slurm_it_says_what_to_do(
    write: Write, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = planned(write())
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(AtlasError, match=r"pip install -r requirements-slurm\.txt"):
        sweep.run(cells, work, Limits("slurm"))
    monkeypatch.setitem(sys.modules, "submitit", ModuleType("submitit"))
    monkeypatch.setitem(sys.modules, "submitit.helpers", ModuleType("submitit.helpers"))
    monkeypatch.setattr(slurm.shutil, "which", lambda name: None)
    with pytest.raises(AtlasError, match="Expected Slurm's sbatch"):
        sweep.run(cells, work, Limits("slurm"))
