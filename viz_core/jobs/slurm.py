"""Cells as one array job of Slurm, through submitit, which is installed only where it is wanted.

Whoever runs this waits for the array: each task leaves a file with its outcomes. A task that is
preempted, out of time or on a node that dies is queued again by Slurm or by itself, and finds in
the store what it had done. One that is in the queue no more, and left nothing, has failed.
"""

from __future__ import annotations

import importlib
import math
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import viz_core
from viz_core.errors import AtlasError
from viz_core.jobs.cell import Cell, Outcome, Outcomes, Tick
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work
from viz_core.words import say

PATIENCE = 0.5  # seconds between looks for the files of tasks
ASKING = 10.0  # seconds between questions to the queue, which many others ask as well
GRACE = 30.0  # seconds that a file may take to be seen on a network disk, after its task's end
WARNING = 60  # seconds before the end of its time at which a task goes back into the queue


@dataclass(frozen=True)
class Task:
    """What one task of the array runs: some cells, one after the other."""

    work: Work

    def __call__(self, cells: Sequence[Cell]) -> list[Outcome]:
        return [self.work(cell) for cell in cells]

    def checkpoint(self, cells: Sequence[Cell]) -> Any:
        """What is queued in its place when its time is over: the same, for the rest."""
        return _submitit().helpers.DelayedSubmission(self, cells)


def run(cells: Sequence[Cell], work: Work, tick: Tick, limits: Limits) -> Outcomes:
    """The outcome of each cell as its task ends; `tick` is called between looks and may raise.

    Whoever closes the iterator cancels the array. Raises AtlasError where submitit or Slurm isn't
    there, or Slurm refuses.
    """
    size = math.ceil(len(cells) / limits.tasks)
    parts = [cells[i : i + size] for i in range(0, len(cells), size)]
    # Beside the results, as that folder is shared. Numbers of jobs begin anew on another cluster,
    # so a folder for each run; for oneself alone, as what submitit leaves there is run.
    work = replace(work, folder=work.folder.resolve())
    folder = work.folder / "jobs" / uuid4().hex
    folder.mkdir(mode=0o700, parents=True)
    jobs = _submitted(parts, work, limits, folder)
    waiting = dict(enumerate(jobs))
    array, asked = jobs[0].job_id.partition("_")[0], -math.inf
    gone, lost = dict[int, float](), set[int]()
    try:
        while waiting:
            tick()
            time.sleep(PATIENCE)
            for i, job in list(waiting.items()):
                if job.paths.result_pickle.exists():
                    del waiting[i]
                    if (error := job.exception()) is None:
                        yield from job.result()
                    else:
                        lost.add(i)
                        yield from _failed(parts[i], _broken(job, error))
            if not waiting or time.monotonic() - asked < ASKING:
                continue
            asked, queued = time.monotonic(), _queued(array)
            for i, job in list(waiting.items()):
                if queued is None or job.job_id in queued:
                    gone.pop(i, None)
                elif asked - gone.setdefault(i, asked) >= GRACE:
                    del waiting[i]
                    lost.add(i)
                    yield from _failed(parts[i], _last(job))
        if not lost:
            shutil.rmtree(folder, ignore_errors=True)  # its logs: nobody needs them now
    finally:
        if waiting:
            with suppress(OSError):
                subprocess.run(["scancel", array], capture_output=True)


def _submitit() -> Any:
    try:
        module = importlib.import_module("submitit")
        importlib.import_module("submitit.helpers")
    except ImportError:
        raise AtlasError(
            say(
                "Expected submitit for the executor slurm; it isn't installed. Install it with "
                "`pip install -r requirements-slurm.txt`, or choose the executor local."
            )
        ) from None
    return module


def _submitted(
    parts: Sequence[Sequence[Cell]], work: Work, limits: Limits, folder: Path
) -> list[Any]:
    submitit = _submitit()
    if shutil.which("sbatch") is None or shutil.which("srun") is None:
        raise AtlasError(
            say(
                "Expected Slurm's sbatch on this machine for the executor slurm; it isn't there. "
                "Run this where jobs are submitted, or choose the executor local."
            )
        )
    executor = submitit.SlurmExecutor(folder=folder, max_num_timeout=10)
    words = {n: getattr(limits, n) for n in ("partition", "account", "qos")}
    asked = {name: word for name, word in words.items() if word is not None}
    if limits.gpus:
        asked["gpus_per_node"] = limits.gpus
    executor.update_parameters(
        job_name="attention-atlas",
        time=limits.minutes,
        mem=f"{round(1024 * limits.memory_gb)}MB",
        cpus_per_task=limits.cpus,
        srun_args=[f"--cpus-per-task={limits.cpus}"],  # srun stopped to take it from sbatch
        array_parallelism=limits.at_once,
        signal_delay_s=WARNING,
        setup=_environment(work, limits),
        additional_parameters={"requeue": True, **limits.sbatch},
        **asked,
    )
    try:
        jobs: list[Any] = executor.map_array(Task(work), parts)
    except (submitit.core.utils.FailedJobError, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = lines[-1].removeprefix("sbatch: error: ") if lines else say("without a word")
        raise AtlasError(
            say(
                "Expected Slurm to take the sweep; it refused ({reason}), so change the limits of "
                "[executor].",
                reason=said,
            )
        ) from None
    return jobs


def _environment(work: Work, limits: Limits) -> list[str]:
    """What a worker must find as it is here, whatever the cluster makes of the rest."""
    root = Path(viz_core.__file__).resolve().parents[1]
    found = {"PYTHONPATH": str(root), "ATLAS_STORE": str(work.folder)}
    for name in ("ATLAS_CORPUS", "ATLAS_ENCODINGS"):
        if folder := os.environ.get(name):
            found[name] = str(Path(folder).expanduser().resolve())
    found["OMP_NUM_THREADS"] = str(limits.cpus)
    return [f"export {name}={shlex.quote(value)}" for name, value in found.items()]


def _broken(job: Any, error: object) -> str:
    """The last line of the trace that submitit hands over, before what it says of logs."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" -")]
    told = (line for line in reversed(lines) if "full logs" not in line and "- /" not in line)
    return say("Its task {job} of Slurm failed: {reason}", job=job.job_id, reason=next(told, ""))


def _failed(part: Sequence[Cell], reason: str) -> Iterator[Outcome]:
    for cell in part:
        assert cell.key is not None
        yield Outcome(cell.key.digest, "failed", reason)


def _queued(array: str) -> set[str] | None:
    """The tasks of the array that wait or run; None where Slurm doesn't answer just now."""
    command = ["squeue", "--noheader", "--array", "--format=%i", f"--jobs={array}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode == 0:
        return set(done.stdout.split())
    return set() if "Invalid job id" in done.stderr else None


def _last(job: Any) -> str:
    """How a task ended that left nothing, as far as its log knows."""
    try:
        lines = job.paths.stderr.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return say(
            "Its task {job} of Slurm never began, or its log {log} is out of sight.",
            job=job.job_id,
            log=job.paths.stderr,
        )
    said = next((line.strip() for line in reversed(lines) if line.strip()), say("it is empty"))
    return say(
        "Its task {job} of Slurm ended without a result; the last line of its log is: {said}",
        job=job.job_id,
        said=said,
    )
