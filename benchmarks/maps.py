"""One measurement: maps and decay curves of all layers and heads of one text, one way.

`python -m benchmarks.maps WAY N` answers with seconds and the peak memory of its process. The
model is the shipped RoPE checkpoint, the text Python's manual. The ways:

- ours: 512 x 512 maps, curves, slopes and laws, as the pages make them;
- weights: transformers, eager attention, `output_attentions=True`: the N x N maps, and no more;
- reduced: the same, and from them the maps and curves that ours gives (`dense`);
- patterns: TransformerLens, the cache of all layers' N x N patterns, and no more.

The last three stop at once where the estimate exceeds the memory at hand.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import Tensor

from benchmarks import dense, processes
from benchmarks.processes import Row
from viz_core import catalogue, texts
from viz_core.model import ModelConfig, Transformer
from viz_core.progress import Progress, ignore
from viz_core.survey import survey
from viz_core.trace import trace
from viz_core.training import recipe

PIXELS = 512
SPOKEN = 16_384  # tokens from which on ours says how far it is
SAME = 1e-4  # how far a peer's attention may lie from ours: its angles are float32
CHECKED = 64  # tokens on which a peer's attention has to equal ours
WARM = 2048  # tokens of the run before the one that counts: what a second call in a session costs

Found = tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]


def ours(model: Transformer, ids: Sequence[int], progress: Progress = ignore) -> list[Found]:
    """(map [head, row, column] in log probability, curve [head, distance]) of each layer."""
    found = survey(
        lambda text, step: trace(model, text, step), [ids], pixels=PIXELS, progress=progress
    )
    return [(w.value, c.value) for w, c in zip(found.windows, found.curves, strict=True)]


@torch.no_grad()
def weights(peer: torch.nn.Module, ids: Sequence[int]) -> list[Tensor]:
    """The attention of each layer of a `llama.llama`: [head, query, key]."""
    out = peer.model(torch.tensor([list(ids)]), output_attentions=True)
    return [a[0] for a in out.attentions]


def reduced(maps: list[Tensor]) -> list[Found]:
    """What `ours` gives, from each layer's attention [head, query, key]; `maps` is used up."""
    found = []
    while maps:
        a = maps.pop(0)
        found.append((dense.pooled(a, PIXELS), dense.curve(a)))
        del a
    return found


@torch.no_grad()
def patterns(bridge: torch.nn.Module, ids: Sequence[int]) -> list[Tensor]:
    """The attention of each layer of a `llama.hooked`: [head, query, key]."""
    tokens = torch.tensor([list(ids)])
    _, cache = bridge.run_with_cache(
        tokens, names_filter=lambda name: name.endswith("hook_pattern"), return_type=None
    )
    return [a[0] for a in cache.values()]


def subject(encoding: str) -> Transformer:
    """A model of the shipped size with random weights."""
    torch.manual_seed(0)
    return Transformer(recipe.load().model(encoding, {})).eval().requires_grad_(False)


def shipped(length: int) -> tuple[Transformer, list[int]]:
    """The RoPE checkpoint, and the first `length` tokens of Python's manual."""
    tokenizer = Tokenizer.from_file(str(catalogue.TOKENIZER))
    return catalogue.find("rope").load(), texts.tokens(texts.MANUAL, length, tokenizer).ids


def needed(config: ModelConfig, length: int) -> int:
    """Bytes of the N x N maps that an eager pass holds at its peak, from below.

    Those of all layers before the last, and there what goes into the softmax, what comes out, and
    the mask, which is as large as one head's map.
    """
    return 4 * length**2 * ((config.layers + 1) * config.heads + 1)


def measure(way: str, length: int) -> Row:
    """Seconds and bytes of `way`; `needs_bytes` and `free_bytes` alone where it can't be."""
    model, ids = shipped(length)
    if way == "ours":
        ours(model, ids[:WARM])
        progress = _spoken(length) if length >= SPOKEN else ignore
        return processes.timed(lambda: ours(model, ids, progress))
    act = _peer(way, model, ids[:CHECKED])
    needs, free = needed(model.config, length), processes.room()
    if needs > free:
        return {"needs_bytes": needs, "free_bytes": free}
    act(ids[:WARM])
    return processes.timed(lambda: act(ids))


def _peer(way: str, model: Transformer, ids: Sequence[int]) -> Callable[..., object]:
    """`way` on the weights of `model`, once its attention to `ids` is seen to equal ours."""
    raw = _raw(way, model)
    mine, span = trace(model, ids), (0, len(ids))
    for layer, theirs in enumerate(raw(ids)):
        gap = (mine.log_attention(layer, span, span, slice(None)).exp() - theirs).abs().max()
        if not gap < SAME:
            raise ValueError(f"expected {way} to attend as ours does; off by {gap:.1e}")
    if way != "reduced":
        return raw
    reduced(raw(ids))
    return lambda text: reduced(raw(text))


def _raw(way: str, model: Transformer) -> Callable[..., list[Tensor]]:
    from benchmarks import llama  # here: ours should not pay for what it doesn't use

    if way == "patterns":
        return partial(patterns, llama.hooked(model))
    return partial(weights, llama.llama(model))


def _spoken(length: int) -> Progress:
    """Says each tenth that is done, on standard error."""
    began, tenth = time.perf_counter(), 0

    def step(done: float) -> None:
        nonlocal tenth
        if done >= (tenth + 1) / 10:
            tenth = int(done * 10)
            gone = time.perf_counter() - began
            print(f"{length:,} tokens: {done:.0%} in {gone:.0f} s", file=sys.stderr, flush=True)

    return step


if __name__ == "__main__":
    processes.answer(lambda: measure(sys.argv[1], int(sys.argv[2])))
