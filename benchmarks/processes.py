"""One measurement, one process: how it is started here, and how it times itself there and answers.

Nothing heavy is imported at the top: a child's peak memory may begin at its parent's.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".venv-peers"  # the other tools, with libraries of their own: `make peers`
ABSENT = "not installed: make peers"
OFFLINE = {"HF_HUB_OFFLINE": "1", "WANDB_MODE": "offline", "TRANSFORMERS_VERBOSITY": "error"}
RUNS, BUDGET = 3, 6.0  # the fastest of so many runs counts; none begins after so many seconds
LACK = ("allocate memory", "out of memory", "bad_alloc")  # how torch and its libraries put it
SHARE = 0.9  # of the memory that is free at the start: the machine has to live too

Row = dict[str, Any]


def measured(module: str, *arguments: object, peers: bool = False) -> Row:
    """What `python -m benchmarks.MODULE ARGUMENTS` answers, in a fresh process.

    With `peers` the interpreter of `.venv-peers`. A note where that isn't there, and where a
    signal ended the process, as happens without memory; CalledProcessError if it failed otherwise.
    """
    if peers and not (PEERS / ".installed").exists():
        return {"note": ABSENT}
    python = PEERS / "bin/python" if peers else sys.executable
    done = subprocess.run(
        [str(python), "-m", f"benchmarks.{module}", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | OFFLINE,
        stdout=subprocess.PIPE,
    )
    if done.returncode < 0:
        return {"note": f"ended by {signal.Signals(-done.returncode).name}"}
    done.check_returncode()
    row: Row = json.loads(done.stdout.splitlines()[-1])  # libraries may print before
    return row


def answer(act: Callable[[], Row]) -> None:
    """Prints what `act` measures as JSON; `exceeded_bytes` where the free memory did not do."""
    room = _confine()
    try:
        row = act()
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not any(word in str(error) for word in LACK):
            raise
        row = {"exceeded_bytes": room}
    print(json.dumps(row))


def timed(act: Callable[[], object], runs: int = RUNS) -> Row:
    """Seconds of the fastest of some runs; bytes at this process's peak, before and in all.

    The peak is the first run's: what later runs add is how the allocator reuses its pieces.
    """
    before, seconds = _peak(), list[float]()
    after = before
    while not seconds or (len(seconds) < runs and sum(seconds) < BUDGET):
        began = time.perf_counter()
        kept = act()
        seconds.append(time.perf_counter() - began)
        del kept
        after = _peak() if len(seconds) == 1 else after
    return {
        "seconds": round(min(seconds), 5),
        "peak_bytes": after,
        "bytes_before": before,
        "runs": len(seconds),
    }


def room() -> int:
    """Bytes that a measurement may take."""
    import psutil

    return int(SHARE * psutil.virtual_memory().available)


def _peak() -> int:
    import torch

    from viz_core import devices

    return devices.peak_bytes(torch.device("cpu"))


def _confine() -> int:
    """Makes this process fail, not the machine, where it asks for more than `room`; that room."""
    import psutil

    free = room()
    if sys.platform == "linux":  # others take no notice of this limit, or refuse it
        import resource

        most = psutil.Process().memory_info().vms + free
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return free
