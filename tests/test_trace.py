"""A trace against a dense forward pass written out here; which lengths it takes; its memory."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from viz_core import attention, decay, devices, kernels
from viz_core import trace as traces
from viz_core.encodings import Value, all_encodings
from viz_core.encodings._scalings import SCALINGS
from viz_core.errors import LengthError, TextError
from viz_core.model import ModelConfig, Transformer

LAYERS, HEADS, WIDTH, VOCABULARY, TRAINED = 2, 4, 32, 50, 64
VARIANTS: dict[str, tuple[str, dict[str, Value]]] = {
    **{name: (name, {}) for name in all_encodings()},
    **{f"rope {s}": ("rope", {"scaling": s, "factor": 4.0}) for s in SCALINGS},
}
CPU = torch.device("cpu")


def model(variant: str, trained: int = TRAINED) -> Transformer:
    encoding, parameters = VARIANTS[variant]
    torch.manual_seed(0)
    config = ModelConfig(encoding, LAYERS, HEADS, WIDTH, VOCABULARY, trained, parameters=parameters)
    made = Transformer(config).eval().requires_grad_(False)
    made.embedding.weight *= 10
    return made


def tokens(count: int) -> list[int]:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(VOCABULARY, (count,), generator=generator).tolist()


def dense(made: Transformer, ids: list[int]) -> list[Tensor]:
    """log A of each layer [head, query, key], in float64, every N x N map held whole."""
    made = copy.deepcopy(made).double()
    n, at = len(ids), torch.arange(len(ids))
    distance = at[:, None] - at
    x = made.encoding.embed(made.embedding(torch.tensor(ids)) * WIDTH**0.5, at)
    maps = []
    for block in made.blocks:
        qkv = (block.norm1(x) @ block.qkv.weight.T).view(n, 3, HEADS, -1)
        q, k, v = (qkv[:, i].transpose(0, 1) for i in range(3))
        q, k = made.encoding.rotate(q, at, n), made.encoding.rotate_key(k, at, n)
        logits = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        bias = made.encoding.bias(distance.clamp(min=0))
        logits = logits if bias is None else logits + bias
        maps.append(logits.masked_fill(distance < 0, float("-inf")).log_softmax(-1))
        mixed = (maps[-1].exp() @ v).transpose(0, 1).reshape(n, WIDTH)
        x = x + mixed @ block.out.weight.T
        x = x + F.gelu(block.norm2(x) @ block.up.weight.T) @ block.down.weight.T
    return maps


@pytest.mark.parametrize("cells", [1, kernels.BLOCK_CELLS])
@pytest.mark.parametrize("length", [2, 37, 101])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_probability_is_the_dense_one(
    variant: str, length: int, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within 1e-5, in float32 against float64; past the trained length too."""
    monkeypatch.setattr(kernels, "BLOCK_CELLS", cells)
    made = model(variant, 128 if variant == "learned" else TRAINED)
    ids = tokens(length)
    trace = traces.trace(made, ids)
    assert trace.length == length and len(trace.layers) == LAYERS
    for layer, full in enumerate(dense(made, ids)):
        log = trace.log_attention(layer, (0, length), (0, length), slice(None))
        assert log.dtype == torch.float32
        assert float((log.double().exp() - full.exp()).abs().max()) < 1e-5
        assert torch.equal(log.isinf(), full.isinf())


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_rectangle_of_some_heads_is_cut_from_the_whole(variant: str) -> None:
    trace = traces.trace(model(variant), tokens(41))
    whole = trace.log_attention(1, (0, 41), (0, 41), slice(None))
    part = trace.log_attention(1, (7, 30), (3, 20), slice(1, 3))
    torch.testing.assert_close(part, whole[1:3, 7:30, 3:20], atol=1e-5, rtol=0)


@pytest.mark.parametrize("count", [0, 1])
def test_texts_without_a_pair_to_compare_are_refused(count: int) -> None:
    with pytest.raises(TextError, match=f"got {count}"):
        traces.trace(model("nope"), tokens(count))


@pytest.mark.parametrize("length", [-5, 0, 1])
def test_lengths_that_are_none_name_the_range(length: int) -> None:
    with pytest.raises(LengthError, match=f"from 2 to .*; got {length}") as caught:
        traces.check_length(model("learned"), length)
    assert caught.value.largest == TRAINED


def test_a_learned_table_ends() -> None:
    made = model("learned")
    with pytest.raises(LengthError, match="undefined past its 64") as caught:
        traces.trace(made, tokens(TRAINED + 1))
    assert caught.value.largest == TRAINED == traces.longest(made)
    assert traces.trace(made, tokens(caught.value.largest)).length == TRAINED


def test_what_memory_does_not_hold_is_refused_with_what_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "free_bytes", lambda device: 1 << 20)
    made = model("alibi")
    with pytest.raises(LengthError, match="more than is free") as caught:
        traces.trace(made, tokens(5000))
    assert caught.value.largest is not None and 64 < caught.value.largest < 5000
    assert traces.trace(made, tokens(caught.value.largest)).length == caught.value.largest
    with pytest.raises(LengthError):
        traces.check_length(made, caught.value.largest + 1)


class Largest(TorchDispatchMode):
    """Bytes of the largest storage behind any tensor that an operation returned."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for t in out if isinstance(out, tuple | list) else (out,):
            if isinstance(t, Tensor):
                self.bytes = max(self.bytes, t.untyped_storage().nbytes())
        return out


def largest(variant: str, length: int, pixels: int) -> int:
    made, ids = model(variant, 1024), tokens(length)
    with Largest() as seen:
        trace = traces.trace(made, ids)
        attention.window(trace, 1, pixels=pixels)
        attention.log_window(trace, 1, pixels=pixels, centred=True)
        parts = [decay.part(trace, 1)]
        decay.by_distance(parts)
        decay.slope(parts)
        decay.law(parts, trace.scores[0], length)
        decay.mean_probability(trace, 1)
    return seen.bytes


@pytest.mark.parametrize(
    ("variant", "pixels"), [("alibi", 2), ("t5", 2), ("rope", 64), ("learned", 16)]
)
def test_nothing_grows_with_the_square_of_the_length(
    variant: str, pixels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "BLOCK_CELLS", 1 << 10)
    short, long = (largest(variant, n, pixels) for n in (256, 1024))
    assert long <= 4.2 * short  # linear: four times as long, four times as much
    assert long < 4 * 1024**2 / 4  # a quarter of one head's map


def test_the_gauge_of_memory_sees_a_full_map() -> None:
    with Largest() as seen:
        dense(model("nope"), tokens(128))
    assert seen.bytes >= 8 * HEADS * 128**2


def test_a_trace_leaves_no_gradient_behind() -> None:
    torch.manual_seed(0)
    made = Transformer(ModelConfig("t5", 1, 2, 16, 10, 32))
    trace = traces.trace(made, [1, 2, 3, 4])
    assert not trace.strip(0).requires_grad and not trace.layers[0].q.requires_grad
    assert np.isfinite(attention.window(trace, 0).value[:, 3]).all()
