"""The machine and the libraries in words: what a number of seconds means nothing without."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from benchmarks.processes import Row

LIBRARIES = ("torch", "transformers", "numpy", "streamlit", "playwright")


def describe() -> Row:
    """Processor, cores that this process may use, bytes of memory, and the system."""
    import psutil

    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    }


def versions() -> dict[str, str]:
    """Of the libraries that decide what is measured."""
    return {name: version(name) for name in LIBRARIES}


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()
