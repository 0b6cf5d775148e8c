"""One measurement: windows of one head, the trace in memory; `python -m benchmarks.windows N`."""

from __future__ import annotations

import statistics
import sys
import time

from benchmarks import maps, processes
from benchmarks.processes import Row
from viz_core import attention
from viz_core.trace import trace

LAYER, HEAD = 1, 0
RUNS = 7  # the middle one counts, after one that counts apart


def measure(length: int) -> Row:
    """Rows of a whole map and of windows of 512 and 64 tokens to a side: seconds each.

    The small ones lie in the middle of the lower triangle, where no pair is masked.
    """
    model, ids = maps.shipped(length)
    whole = trace(model, ids)
    rows = []
    for side in (length, min(512, length // 4), min(64, length // 4)):
        a = 0 if side == length else 3 * length // 4 - side // 2
        c = 0 if side == length else length // 4 - side // 2
        seconds = []
        for _ in range(1 + RUNS):
            began = time.perf_counter()
            attention.window(
                whole,
                LAYER,
                (a, a + side),
                (c, c + side),
                pixels=maps.PIXELS,
                heads=slice(HEAD, HEAD + 1),
            )
            seconds.append(time.perf_counter() - began)
        first, *others = seconds
        middle = statistics.median(others)
        rows.append({"tokens": side, "seconds": round(middle, 6), "first_seconds": round(first, 6)})
    return {"length": length, "rows": rows}


if __name__ == "__main__":
    processes.answer(lambda: measure(int(sys.argv[1])))
