"""One measurement: maps and decay curves of all layers and heads of one text, one way.

`python -m benchmarks.maps ours|dense N` prints seconds and the peak memory of this process. The
dense way is what `output_attentions=True` does: each layer's N x N attention is made and kept.
Both give the same numbers (`tests/test_benchmarks.py`).
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core import attention, decay, devices
from viz_core.model import Transformer
from viz_core.trace import trace
from viz_core.training import recipe

PIXELS = 512
Found = tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]


def ours(model: Transformer, ids: list[int]) -> list[Found]:
    """(map [head, row, column] in log probability, curve [head, distance]) of each layer."""
    t = trace(model, ids)
    return [
        (attention.window(t, n, pixels=PIXELS).value, decay.by_distance([decay.part(t, n)]).value)
        for n in range(len(t.layers))
    ]


@torch.no_grad()
def dense(model: Transformer, ids: list[int]) -> list[Found]:
    """The same from attention maps that are held whole."""
    n, heads = len(ids), model.config.heads
    at = torch.arange(n)
    future = at[:, None] < at
    x = model.encoding.embed(model.embedding(torch.tensor([ids])) * model.config.width**0.5, at)
    maps = []
    for block in model.blocks:
        qkv = block.qkv(block.norm1(x)).unflatten(-1, (3, heads, -1))
        q, k, v = qkv[0].permute(1, 2, 0, 3)
        q, k = model.encoding.rotate(q, at, n), model.encoding.rotate(k, at, n)
        scores = q @ k.transpose(-1, -2) * model.config.scale
        bias = model.encoding.bias(at)
        if bias is not None:
            scores += bias[:, (at[:, None] - at).clamp(min=0)]
        maps.append(scores.masked_fill_(future, -torch.inf).softmax(-1))
        x = x + block.out((maps[-1] @ v).transpose(0, 1).flatten(1))[None]
        x = x + block.down(F.gelu(block.up(block.norm2(x))))
    return [(_pooled(a), _curve(a)) for a in maps]


def _pooled(a: Tensor) -> npt.NDArray[np.float32]:
    """a [head, query, key] as log means over the causal pairs of square cells."""
    n = a.shape[-1]
    cell = -(-n // PIXELS)
    pad = (0, -n % cell, 0, -n % cell)
    pairs = F.avg_pool2d(F.pad(torch.ones(1, n, n).tril(), pad), cell)
    pooled: npt.NDArray[np.float32] = (F.avg_pool2d(F.pad(a, pad), cell) / pairs).log().numpy()
    return np.where(pairs.numpy() > 0, pooled, np.float32(-np.inf))


def _curve(a: Tensor) -> npt.NDArray[np.float64]:
    """The row-fixed-effects curve from sums over the map itself, one head at a time."""
    sink = decay.SINK
    size = a.shape[-1] - sink
    fits = []
    for head in a:
        logs = head[sink:, sink:].log().nan_to_num_(neginf=0.0)
        row = logs.sum(-1).double()  # float32: several times as fast
        wide = F.pad(logs.flip(-1), (0, size - 1))  # skewed below: distances line up in columns
        skewed = wide.as_strided((size, size), (wide.stride(0) - 1, 1), size - 1)
        fits.append(decay.fit(skewed.sum(0).double()[None].numpy(), row[None].numpy())[0])
    fit, pairs = np.stack(fits), size - np.arange(size)
    shown = max(2, int((pairs >= min(decay.FLOOR, size // 4)).sum()))
    fit = fit[:, :shown]
    centred: npt.NDArray[np.float64] = fit - np.average(fit, axis=1, weights=pairs[:shown])[:, None]
    return centred


def subject(encoding: str = "rope") -> Transformer:
    """A model of the shipped size with random weights."""
    torch.manual_seed(0)
    return Transformer(recipe.load().model(encoding, {})).eval().requires_grad_(False)


def measure(way: str, length: int) -> dict[str, float]:
    """Seconds of a run after a small one to warm up, and bytes at the peak, before and in all."""
    act = {"ours": ours, "dense": dense}[way]
    model = subject()
    ids = torch.randint(model.config.vocabulary, (length,)).tolist()
    act(model, ids[:64])
    before = devices.peak_bytes(torch.device("cpu"))
    began = time.perf_counter()
    act(model, ids)
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "peak_bytes": devices.peak_bytes(torch.device("cpu")),
        "bytes_before": before,
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
