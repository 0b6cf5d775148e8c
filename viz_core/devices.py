"""Where to compute, and how much memory there is for it."""

from __future__ import annotations

import resource
import sys

import psutil
import torch


def best() -> torch.device:
    """CUDA if there is a GPU, then Apple's MPS, then the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def free_bytes(device: torch.device) -> int:
    """Memory that a new computation on `device` may take, bytes."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return int(psutil.virtual_memory().available)


def peak_bytes(device: torch.device) -> int:
    """The most memory this process has held on `device` so far, bytes."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # Linux counts in kilobytes
