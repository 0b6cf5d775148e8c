"""One measurement: what this machine can do at most, in the operations that attention consists of.

`python -m benchmarks.limits` answers with rates per second, over all threads that torch uses:

- exponentials, of a block that stays in the cache;
- narrow products, [8192 x 32] times [32 x 64]: the shape of scores in our blocks;
- wide products, [2048 x 256] times [256 x 768]: the shape of the linear layers;
- bytes summed, of a block that stays in the cache;
- bytes copied in memory (read and written), of 256 MB: what whole N x N maps meet.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from benchmarks import processes
from benchmarks.processes import Row
from viz_core import kernels

SECONDS = 0.5  # of repeats; the fastest counts
MEMORY = 1 << 26  # numbers in a copy, 256 MB


def measure() -> Row:
    """Rates per second; a multiply and an add count as one."""
    torch.manual_seed(0)
    block = torch.rand(kernels.BLOCK_CELLS // 64, 64).neg_()
    result = torch.empty_like(block)
    narrow, wide = _product(8192, 32, 64), _product(2048, 256, 768)
    source, target = torch.rand(MEMORY), torch.empty(MEMORY)
    return {
        "threads": torch.get_num_threads(),
        "exponentials": block.numel() / _fastest(lambda: torch.exp2(block, out=result)),
        "narrow_products": 8192 * 32 * 64 / _fastest(narrow),
        "wide_products": 2048 * 256 * 768 / _fastest(wide),
        "bytes_summed": block.nbytes / _fastest(lambda: block.sum(0)),
        "bytes_copied": 2 * source.nbytes / _fastest(lambda: target.copy_(source)),
    }


def _product(rows: int, inner: int, columns: int) -> Callable[[], object]:
    a, b, out = torch.rand(rows, inner), torch.rand(inner, columns), torch.empty(rows, columns)
    return lambda: torch.mm(a, b, out=out)


def _fastest(act: Callable[[], object]) -> float:
    act()
    seconds = list[float]()
    while sum(seconds) < SECONDS:
        began = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


if __name__ == "__main__":
    processes.answer(measure)
