"""Attention cut at a distance, against dense passes with the pattern cut and renormalised."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from viz_core.attribution import reach
from viz_core.errors import LengthError
from viz_core.model import Transformer
from viz_core.perplexity import token_losses

Made = Callable[..., Transformer]
Drawn = Callable[..., list[int]]
Dense = Callable[..., Tensor]
Copier = tuple[Transformer, list[int]]


@pytest.mark.parametrize("kept", [0, 3])
@pytest.mark.parametrize("encoding", ["nope", "sinusoidal", "learned", "t5", "alibi", "rope"])
def test_what_is_cut_goes_to_the_keys_that_stay(
    encoding: str, kept: int, small: Made, drawn: Drawn, dense: Dense
) -> None:
    n = 40
    model, texts = small(encoding, n), [drawn(n + 1, seed) for seed in (1, 2)]
    found = reach.measure(model, texts, [0, 1, 5, 38, 39], kept)
    assert (found.reaches, found.kept, found.length) == ((0, 1, 5, 38, 39, 40), kept, n)
    at = torch.arange(n)
    distance = at[:, None] - at
    for r, d in enumerate(found.reaches):
        stays = (distance <= d) | (at < kept)

        def cut(layer: int, a: Tensor, v: Tensor, stays: Tensor = stays) -> Tensor:
            a = a * stays
            return a / a.sum(-1, keepdim=True) @ v

        for t, ids in enumerate(texts):
            logits = dense(model, model.embedding.weight[ids[:-1]] * 4, cut)
            every = F.cross_entropy(logits, torch.tensor(ids[1:]), reduction="none")
            expected = [every[:5].mean(), every[20:].mean()]  # positions 1 to 5, 21 to 40
            np.testing.assert_allclose(found.loss[t, r], expected, rtol=1e-4)


@pytest.mark.parametrize("kept", [0, 4])
def test_far_below_the_cut_blocks_without_any_key_make_no_nan(
    kept: int, small: Made, drawn: Drawn
) -> None:
    """Reach 0: each token alone, the same at any length."""
    model, ids = small("alibi"), drawn(2001)
    long = reach.measure(model, [ids], [0], kept).loss[0, 0]
    short = reach.measure(model, [ids[:33]], [0], kept).loss[0, 0]
    np.testing.assert_allclose(long[:2], short, rtol=1e-5)


def test_the_whole_reach_is_the_model_itself(small: Made, drawn: Drawn) -> None:
    model, ids = small("rope"), drawn(65)
    found = reach.measure(model, [ids])
    assert found.reaches == (1, 2, 4, 8, 16, 32, 64)
    every = token_losses(model, torch.tensor([ids]))[0]
    expected = [every[a - 1 : b].mean() for a, b in ((1, 4), (17, 32), (33, 64))]
    np.testing.assert_allclose(found.loss[0, -1], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("length", "expected"), [(2, (1, 2)), (3, (1, 2, 3)), (64, (1, 2, 4, 8, 16, 32, 64))]
)
def test_doubling(length: int, expected: tuple[int, ...]) -> None:
    assert reach.doubling(length) == expected


def test_a_head_that_copies_from_distance_7_needs_a_reach_of_7(copier: Copier) -> None:
    model, ids = copier
    found = reach.measure(model, [ids], range(12))
    far = found.loss[0, :, 1]
    assert int((far[:-1] - far[1:]).argmax()) == 6  # from 6 to 7
    np.testing.assert_allclose(far[7:], far[-1], rtol=1e-5)
    assert (far[:7] > far[-1] + 0.5).all()


def test_progress_is_told_and_may_cancel(small: Made, drawn: Drawn) -> None:
    model, texts = small("t5"), [drawn(9, seed) for seed in (1, 2)]
    told = list[float]()
    reach.measure(model, texts, progress=told.append)
    np.testing.assert_allclose(told, np.arange(1, 9) / 8)

    def stop(done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reach.measure(model, texts, progress=stop)


def test_what_cannot_be_measured(small: Made, drawn: Drawn) -> None:
    for wrong in ([-1], [3, 21]):
        with pytest.raises(LengthError, match="distances from 0 to 20"):
            reach.measure(small("rope"), [drawn(21)], wrong)
    with pytest.raises(LengthError, match="undefined past its 32"):
        reach.measure(small("learned"), [drawn(34)])
    with pytest.raises(LengthError, match="one length"):
        reach.measure(small("rope"), [drawn(34), drawn(30)])
