"""One measurement: the losses of one long text, by one model, one way.

`python -m benchmarks.losses ours|plain ENCODING N` prints seconds and the peak memory of this
process. The plain way is the same model without its encoding: torch's causal attention and no bias.
"""

from __future__ import annotations

import json
import sys
import time

import torch

from benchmarks.maps import subject
from viz_core import devices
from viz_core.encodings import get
from viz_core.perplexity import token_losses

REPEATS = 3  # within a process: the fastest counts


def measure(way: str, encoding: str, length: int) -> dict[str, float]:
    """Seconds of the fastest of some runs, and bytes at the peak, of the process in all."""
    model = subject(encoding)
    if way == "plain":
        model.encoding = get("nope").make(model.config.geometry)
    ids = torch.randint(model.config.vocabulary, (1, length + 1))
    token_losses(model, ids[:, :65])
    best = float("inf")
    for _ in range(REPEATS):
        began = time.perf_counter()
        token_losses(model, ids)
        best = min(best, time.perf_counter() - began)
    return {"seconds": best, "peak_bytes": devices.peak_bytes(torch.device("cpu"))}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
