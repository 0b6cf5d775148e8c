"""Attribution to the pattern: dense passes, completeness, the integral, a known answer, memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from viz_core import devices
from viz_core.attribution import Target, pattern
from viz_core.attribution.forward import Forward
from viz_core.encodings import all_encodings
from viz_core.errors import LengthError, UsageError
from viz_core.model import ModelConfig, Transformer

Made = Callable[..., Transformer]
Drawn = Callable[..., list[int]]
Dense = Callable[..., Tensor]
Copier = tuple[Transformer, list[int]]


@pytest.mark.parametrize("length", [2, 30, 300])
@pytest.mark.parametrize("encoding", all_encodings())
def test_the_pattern_held_whole_moves_what_the_fused_kernel_moves(
    encoding: str, length: int, small: Made, drawn: Drawn
) -> None:
    forward = Forward(small(encoding, 300), length)
    x = forward.placed(forward.vectors(drawn(length)))
    for layer in range(2):
        q, k, v = forward.project(layer, x)
        a, mixed = pattern.pattern(forward, q, k), forward.attend(layer, q, k, v)
        torch.testing.assert_close(a @ v, mixed, atol=1e-5, rtol=1e-5)
        assert not a.triu(1).any()
        x = forward.close(layer, x, mixed)


@pytest.mark.parametrize("encoding", all_encodings())
def test_each_layer_adds_up_to_the_difference_of_outputs(
    encoding: str, small: Made, drawn: Drawn, dense: Dense
) -> None:
    model, ids = small(encoding), drawn(24)
    target = Target.following(ids, [12, 20])
    found = pattern.attribute(model, ids, target)
    entering = model.embedding.weight[ids] * model.config.width**0.5

    def number(without: int | None) -> float:
        logits = dense(model, entering, lambda layer, a, v: a @ v * (layer != without))
        return float(logits.log_softmax(-1)[list(target.queries), list(target.tokens)].mean())

    assert found.output == pytest.approx(number(None), abs=1e-3)
    np.testing.assert_allclose(found.without, [number(0), number(1)], atol=1e-3)
    difference = found.output - found.without
    np.testing.assert_allclose(found.delta, found.value.sum((1, 2, 3)) - difference, atol=1e-4)
    assert (np.abs(found.delta) < 1e-2 * np.maximum(np.abs(difference), 0.1)).all()
    assert found.warning == ""
    assert found.layers == (0, 1)
    assert found.value.shape == (2, 2, 21, 21)  # up to the last query
    assert not np.triu(found.value, 1).any()


def test_it_is_the_integral_of_the_papers_formula(small: Made, drawn: Drawn, dense: Dense) -> None:
    model, ids = small("rope"), drawn(10)
    found = pattern.attribute(model, ids, Target((9,), (4,), "logit"), [0], steps=20)
    entering = model.embedding.weight[ids] * model.config.width**0.5
    nodes, weights = np.polynomial.legendre.leggauss(20)
    total, whole = torch.zeros(2, 10, 10).double(), torch.zeros(())
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        held = dict[float, Tensor]()

        def mixer(
            layer: int, a: Tensor, v: Tensor, node: float = node, held: dict[float, Tensor] = held
        ) -> Tensor:
            if layer == 0:
                held[1.0] = a
                a = held[node] = (a * node).requires_grad_()
            return a @ v

        (slope,) = torch.autograd.grad(dense(model, entering, mixer)[9, 4], held[node])
        total, whole = total + weight * slope, held[1.0]
    np.testing.assert_allclose(found.value[0], whole * total, rtol=1e-3, atol=1e-4)
    for d in range(10):
        sums = np.trace(found.value[0], -d, 1, 2)
        np.testing.assert_allclose(found.by_distance[0, :, d], sums, atol=1e-5)
        sums = np.trace(whole.numpy(), -d, 1, 2)
        np.testing.assert_allclose(found.attention[0, :, d], sums, atol=1e-5)


def test_a_head_that_copies_from_distance_7_has_it_all_there(copier: Copier) -> None:
    model, ids = copier
    for queries in ([7], [41], range(20, 60)):
        found = pattern.attribute(model, ids, Target.following(ids, list(queries)))
        assert int(np.abs(found.by_distance[1, 1]).argmax()) == 7
        assert found.by_distance[1, 1, 7] == pytest.approx(found.value.sum(), rel=1e-3)
        last = queries[-1]
        assert np.unravel_index(found.value[1, 1, last].argmax(), (last + 1,)) == (last - 7,)
        assert not found.value[0].any() and not found.value[1, 0].any()


def test_some_layers_are_a_part_of_all(small: Made, drawn: Drawn) -> None:
    model, ids = small("alibi"), drawn(16)
    target = Target.following(ids, [14])
    whole = pattern.attribute(model, ids, target, steps=5)
    part = pattern.attribute(model, ids, target, [1], steps=5)
    np.testing.assert_array_equal(part.value[0], whole.value[1])
    np.testing.assert_array_equal(part.attention[0], whole.attention[1])
    assert (part.layers, part.output) == ((1,), pytest.approx(whole.output, abs=1e-5))
    model.blocks[0].out.weight *= 30  # what it moves now outweighs the stream: no straight line
    few = pattern.attribute(model, ids, target, steps=1)
    assert few.warning.startswith("Layer 1: The attributions add up to")


def test_threads_that_share_a_model_do_not_disturb_each_other(small: Made, drawn: Drawn) -> None:
    model = small("t5")
    texts = [drawn(24, seed) for seed in range(6)]

    def run(ids: list[int]) -> np.ndarray:
        return pattern.attribute(model, ids, Target.following(ids, [20]), steps=8).value

    alone = [run(ids) for ids in texts]
    with ThreadPoolExecutor(3) as pool:
        for found, expected in zip(pool.map(run, texts), alone, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


def test_progress_is_told_and_may_cancel(small: Made, drawn: Drawn) -> None:
    model, ids = small("rope"), drawn(12)
    told = list[float]()
    ask = (model, ids, Target.following(ids, [10]), [0, 1], 3)
    pattern.attribute(*ask, told.append)
    np.testing.assert_allclose(told, np.arange(1, 11) / 10)

    def stop(done: float) -> None:
        if done >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pattern.attribute(*ask, stop)


class Live(TorchDispatchMode):
    """The most bytes that were held at once by what operations returned."""

    def __init__(self) -> None:
        super().__init__()
        self.held = dict[int, tuple[StorageWeakRef, int]]()
        self.most = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for t in out if isinstance(out, tuple | list) else (out,):
            if isinstance(t, Tensor):
                storage = t.untyped_storage()
                self.held[storage._cdata] = StorageWeakRef(storage), storage.nbytes()
        self.held = {key: one for key, one in self.held.items() if not one[0].expired()}
        self.most = max(self.most, sum(size for _, size in self.held.values()))
        return out


@pytest.mark.parametrize("encoding", ["alibi", "rope"])
def test_the_estimate_of_memory_is_above_what_is_held_but_not_far(
    encoding: str, drawn: Drawn
) -> None:
    torch.manual_seed(0)
    model = Transformer(ModelConfig(encoding, 1, 4, 16, 24, 64)).eval().requires_grad_(False)
    ids = drawn(257)
    with Live() as seen:
        pattern.attribute(model, ids, Target.following(ids, [255]), steps=2)
    kept = 4 * 4 * 256**2  # in numpy, which the gauge doesn't see
    estimate = pattern.bytes_needed(model.config, 256, 1)
    assert 0.5 * estimate < seen.most + kept < estimate


def test_what_cannot_be_asked(small: Made, drawn: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    model, ids = small("learned"), drawn(40)
    target = Target.following(ids, [20])
    for layers, steps in (([2], 5), ([-1], 5), ([], 5), ([0], 0)):
        with pytest.raises(UsageError, match="layers from 0 to 1 and at least 1 step"):
            pattern.attribute(model, ids, target, layers, steps)
    with pytest.raises(LengthError, match="undefined past its 32"):
        pattern.attribute(model, ids, Target.following(ids, [35]))
    need = pattern.bytes_needed(model.config, 21, 2)
    monkeypatch.setattr(devices, "free_bytes", lambda device: int((need + 8) / 0.8))
    assert pattern.longest(model, 2, torch.device("cpu")) == 21
    pattern.attribute(model, ids, target)
    with pytest.raises(LengthError, match=r"2 layers at 22 tokens.*at most 21") as caught:
        pattern.attribute(model, ids, Target.following(ids, [21]))
    assert caught.value.largest == 21
