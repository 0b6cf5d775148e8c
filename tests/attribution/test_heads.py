"""Heads replaced, against dense passes written out; a head that does it all."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core import decay
from viz_core.attribution import REPLACEMENTS, heads
from viz_core.errors import LengthError
from viz_core.model import Transformer
from viz_core.trace import trace

Made = Callable[..., Transformer]
Drawn = Callable[..., list[int]]
Dense = Callable[..., Tensor]
Copier = tuple[Transformer, list[int]]
N, TRAINED = 60, 40


def losses(logits: Tensor, ids: list[int], places: list[tuple[int, int]]) -> list[float]:
    """Means over positions first .. last, the numbers of tokens before."""
    every = F.cross_entropy(logits, torch.tensor(ids[1:]), reduction="none")
    return [float(every[first - 1 : last].mean()) for first, last in places]


@pytest.mark.parametrize("encoding", ["nope", "sinusoidal", "learned", "t5", "alibi", "rope"])
def test_every_replacement_is_the_dense_one(
    encoding: str, small: Made, drawn: Drawn, dense: Dense
) -> None:
    n = TRAINED if encoding == "learned" else N
    places = [(1, 5), (21, 40), (41, 60)][: 3 if n > TRAINED else 2]
    model, texts = small(encoding, TRAINED), [drawn(n + 1, seed) for seed in (1, 2)]
    found = heads.measure(model, texts)
    assert [(p.first, p.last) for p in found.places] == places
    assert found.length == n
    entering = [model.embedding.weight[ids[:-1]] * 4 for ids in texts]

    outputs: list[list[Tensor]] = [[], []]  # of each layer, [h, n, c] of each text

    def plainly(layer: int, a: Tensor, v: Tensor) -> Tensor:
        outputs[layer].append(a @ v)
        return a @ v

    for t, ids in enumerate(texts):
        expected = losses(dense(model, entering[t], plainly), ids, places)
        np.testing.assert_allclose(found.plain[t], expected, rtol=1e-4)
    means = [torch.stack(o).mean((0, 2)) for o in outputs]  # [h, c]
    traces = [trace(model, ids[:-1]) for ids in texts]
    curves = []
    for layer in range(2):
        curve = decay.by_distance([decay.part(t, layer) for t in traces]).value
        level = curve[:, -1:].repeat(n - curve.shape[1], axis=1)  # as far as it is known
        curves.append(torch.from_numpy(np.concatenate((curve, level), axis=1)))
    at = torch.arange(n)
    distance = at[:, None] - at

    def instead(name: str, layer: int, v: Tensor) -> Tensor:
        if name in ("zero", "mean"):
            return means[layer][:, None] + 0 * v if name == "mean" else 0 * v
        b = curves[layer] if name == "position" else 0 * curves[layer]
        logits = b[:, distance.clamp(min=0)].masked_fill(distance < 0, float("-inf"))
        return logits.softmax(-1) @ v

    for r, name in enumerate(REPLACEMENTS):
        for t, ids in enumerate(texts):
            for layer in range(2):
                for head in range(2):

                    def one(
                        which: int,
                        a: Tensor,
                        v: Tensor,
                        name: str = name,
                        layer: int = layer,
                        head: int = head,
                    ) -> Tensor:
                        mixed = a @ v
                        if which == layer:
                            mixed[head] = instead(name, layer, v)[head]
                        return mixed

                    expected = losses(dense(model, entering[t], one), ids, places)
                    np.testing.assert_allclose(found.loss[t, r, layer, head], expected, rtol=1e-3)
            logits = dense(
                model, entering[t], lambda layer, a, v, name=name: instead(name, layer, v)
            )
            np.testing.assert_allclose(found.together[t, r], losses(logits, ids, places), rtol=1e-3)
    effect = (found.loss - found.plain[:, None, None, None]).mean(0)
    np.testing.assert_allclose(found.effect, effect)


def test_the_head_that_copies_is_the_one_that_matters(copier: Copier) -> None:
    """Its position alone does all of it: the curve in its place costs nothing."""
    model, ids = copier
    found = heads.measure(model, [ids])
    assert [p.name for p in found.places] == ["near", "far"]
    for r, name in enumerate(REPLACEMENTS):
        far = found.effect[r, :, :, 1]
        if name == "position":
            np.testing.assert_allclose(far, 0, atol=1e-4)
        else:
            assert far[1, 1] > 0.5
            far[1, 1] = 0
            np.testing.assert_allclose(far, 0, atol=1e-5)
        np.testing.assert_allclose(found.together[0, r], found.loss[0, r, 1, 1], rtol=1e-5)


def test_threads_that_share_a_model_do_not_disturb_each_other(small: Made, drawn: Drawn) -> None:
    model = small("rope")
    texts = [drawn(31, seed) for seed in range(4)]

    def run(ids: list[int]) -> np.ndarray:
        return heads.measure(model, [ids]).loss

    alone = [run(ids) for ids in texts]
    with ThreadPoolExecutor(4) as pool:
        for found, expected in zip(pool.map(run, texts), alone, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_progress_is_told_and_may_cancel(small: Made, drawn: Drawn) -> None:
    model, texts = small("t5"), [drawn(25, seed) for seed in (1, 2)]
    told = list[float]()
    heads.measure(model, texts, told.append)
    np.testing.assert_allclose(told, np.arange(1, 45) / 44)  # 2 x (2 + 4 x (2 x 2 + 1))

    def stop(done: float) -> None:
        if done > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        heads.measure(model, texts, stop)


def test_what_cannot_be_measured(small: Made, drawn: Drawn) -> None:
    with pytest.raises(LengthError, match="one length"):
        heads.measure(small("rope"), [drawn(20), drawn(21)])
    with pytest.raises(LengthError, match="undefined past its 32"):
        heads.measure(small("learned"), [drawn(34)])
