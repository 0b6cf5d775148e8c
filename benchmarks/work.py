"""What a computation of ours consists of, counted, and how long the machine's limits allow it.

Pairs are queries with a key not after them, N (N + 1) / 2 per head. The forward pass takes two
products of a head's width and one exponential for each; the map takes one product two channels
wider (normaliser and anchor, `viz_core.cells`), one exponential, and a sum that reads each
probability once. Blocks stay in the cache, so memory sees none of this. Left out, as below 2 %
from 2,048 tokens on: transforms for the curves, norms, rotations.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.processes import Row


@dataclass(frozen=True)
class Work:
    """Exponentials, multiply-adds in narrow and in wide products, bytes that sums read."""

    exponentials: int
    narrow: int
    wide: int
    summed: int

    def seconds(self, limits: Row) -> float:
        """The least time by the rates of `limits.measure`, one kind of work after the other."""
        return float(
            self.exponentials / limits["exponentials"]
            + self.narrow / limits["narrow_products"]
            + self.wide / limits["wide_products"]
            + self.summed / limits["bytes_summed"]
        )


def survey(model: Row, length: int) -> Work:
    """All layers' and heads' maps and curves, the forward pass included."""
    one = window(model, length)
    pairs, heads = _pairs(length), model["layers"] * model["heads"]
    width = model["width"]
    return Work(
        exponentials=heads * (pairs + one.exponentials),
        narrow=heads * (2 * pairs * _channels(model) + one.narrow),
        wide=model["layers"] * length * width**2 * (4 + 2 * model["mlp"]),
        summed=heads * one.summed,
    )


def window(model: Row, length: int) -> Work:
    """One head's whole map, the trace in memory."""
    pairs = _pairs(length)
    return Work(pairs, pairs * (_channels(model) + 2), 0, 4 * pairs)


def eager_bytes(model: Row, length: int) -> int:
    """Bytes that eager attention moves through memory, both triangles of all heads' maps.

    The product writes each score (4 bytes), scaling reads and writes it, the mask too, softmax
    too, and the product with the values reads it: 8 times in transformers' own function.
    """
    maps: int = model["layers"] * model["heads"] * length**2
    return 8 * 4 * maps


def _pairs(length: int) -> int:
    return length * (length + 1) // 2


def _channels(model: Row) -> int:
    channels: int = model["width"] // model["heads"]
    return channels
