"""Cells in several processes of this machine; one that dies takes no more than its own cell along.

Not concurrent.futures: there, a worker that is killed breaks the whole pool, nobody knows over
which cell, and the workers of a pool whose owner is killed live on. Here each worker has a pipe of
its own, and ends with it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import connection
from multiprocessing.connection import Connection

import torch

from viz_core.jobs.cell import Cell, Outcome, Outcomes, Run, Tick
from viz_core.words import say

PATIENCE = 0.2  # seconds between looks
TRIES = 2  # a process may be killed for what another one took; twice is no accident


def run(cells: Sequence[Cell], work: Run, tick: Tick, workers: int | None = None) -> Outcomes:
    """The outcome of each cell as it comes; `work` runs in `workers` processes, made by spawn.

    `tick` is called between looks and may raise. Whoever closes the iterator ends the processes at
    once: the store has no need of their goodbye.
    """
    count = min(workers or default(), len(cells))
    threads = max(1, (os.cpu_count() or 1) // max(1, count))
    waiting, tries = deque(cells), dict[Cell, int]()
    crew = [_Worker(work, threads) for _ in range(count)]
    try:
        while waiting or any(one.cell for one in crew):
            for one in crew:
                if one.cell is None and waiting:
                    one.give(waiting.popleft())
            ready = connection.wait([one.pipe for one in crew if one.cell], PATIENCE)
            tick()
            for i, one in enumerate(crew):
                if one.pipe not in ready or one.cell is None:
                    continue
                cell, outcome = one.cell, one.take()
                if outcome is None:
                    code = one.end()
                    crew[i] = _Worker(work, threads)
                    tries[cell] = tries.get(cell, 0) + 1
                    if tries[cell] < TRIES:
                        waiting.appendleft(cell)
                        continue
                    outcome = _killed(cell, code)
                yield outcome
    finally:
        for one in crew:
            one.end()


def default() -> int:
    """Processes for this machine: one for two cores."""
    return max(1, (os.cpu_count() or 1) // 2)


class _Worker:
    """A process that computes one cell at a time."""

    def __init__(self, work: Run, threads: int) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would share torch's threads
        self.pipe, theirs = context.Pipe()
        self.cell: Cell | None = None
        self._process = context.Process(target=_serve, args=(theirs, work, threads), daemon=True)
        self._process.start()
        theirs.close()  # or its end would stay open after its death

    def give(self, cell: Cell) -> None:
        self.cell = cell
        with suppress(OSError):  # dead already: the next look finds out
            self.pipe.send(cell)

    def take(self) -> Outcome | None:
        """What came of its cell; None if it died over it."""
        self.cell = None
        try:
            outcome: Outcome = self.pipe.recv()
        except (EOFError, OSError):
            return None
        return outcome

    def end(self) -> int:
        """Ends it; its exit code, negative for the signal that ended it."""
        self.pipe.close()
        self._process.kill()  # one that is dead already keeps its own code
        self._process.join()
        return self._process.exitcode or 0


def _serve(pipe: Connection, work: Run, threads: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who reports
    torch.set_num_threads(threads)
    with suppress(EOFError, OSError):  # whoever gave the work is gone
        while True:
            pipe.send(work(pipe.recv()))


def _killed(cell: Cell, code: int) -> Outcome:
    assert cell.key is not None
    how = signal.Signals(-code).name if code < 0 else say("exit status {code}", code=code)
    reason = say(
        "Its process was ended {times} times over it ({how}), most likely for want of memory; "
        "choose a shorter length or fewer workers.",
        times=TRIES,
        how=how,
    )
    return Outcome(cell.key.digest, "failed", reason)
