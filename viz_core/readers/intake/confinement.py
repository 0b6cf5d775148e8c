"""How little a process may take: limits that it sets itself, for good, before it opens a file."""

from __future__ import annotations

import resource
from contextlib import suppress

import psutil
import torch


def confine(seconds: int, memory: int, written: int) -> None:
    """From here on, so many seconds of computing, bytes of memory, and bytes in one file.

    Memory is counted on top of what PyTorch has taken by now, which depends on how it was built.
    Raises OSError or ValueError where the system knows no such limits.
    """
    torch.set_num_threads(1)
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(
        resource.RLIMIT_CPU, (most, most + 1)
    )  # at the first it is told, at the second killed
    most = psutil.Process().memory_info().vms + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):  # no new process or thread; root isn't bound by it
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
