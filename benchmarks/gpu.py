"""One measurement: all heads' maps of one layer on a GPU, beside that layer's fused forward.

`python -m benchmarks.gpu N`. The forward is torch's own attention in one call: in float32, as
everything here is computed, and in bfloat16, since torch's flash kernel takes no more than that.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks import maps
from benchmarks.processes import Row
from viz_core import attention, devices
from viz_core.trace import trace

LAYER = 1
RUNS = 3  # the fastest counts, after one that warms up


def measure(length: int, device: torch.device) -> Row:
    """Seconds of the maps and of the forward, and the peak of the device's memory."""
    model, ids = maps.shipped(length)
    whole = trace(model.to(device), ids)
    q, k, _ = whole.layers[LAYER]
    v = k  # the trace keeps no values; any of their shape take the same time

    def forward(dtype: torch.dtype) -> Tensor:
        parts = (x[None].to(dtype) for x in (q, k, v))
        return F.scaled_dot_product_attention(
            *parts, is_causal=True, scale=whole.scores[LAYER].scale
        )

    return {
        "length": length,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "maps_seconds": _fastest(
            lambda: attention.window(whole, LAYER, pixels=maps.PIXELS), device
        ),
        "forward_seconds": _fastest(lambda: forward(torch.float32), device),
        "flash_seconds": _fastest(lambda: forward(torch.bfloat16), device),
        "peak_bytes": devices.peak_bytes(device),
    }


def _fastest(act: Callable[[], object], device: torch.device) -> float:
    seconds = []
    for _ in range(1 + RUNS):
        began = time.perf_counter()
        act()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds.append(time.perf_counter() - began)
    return round(min(seconds[1:]), 6)


def here(length: int) -> Row:
    """`measure` on the GPU; a note where there is none."""
    if not torch.cuda.is_available():
        return {"note": "no GPU here"}
    return measure(length, torch.device("cuda"))


if __name__ == "__main__":
    print(json.dumps(here(int(sys.argv[1]))))  # unconfined: CUDA reserves far more than it takes
