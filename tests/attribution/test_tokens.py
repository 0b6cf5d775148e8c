"""Attribution to tokens: completeness, passes written out, a known answer, threads."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from captum.attr import LayerGradientXActivation, LayerIntegratedGradients
from torch import Tensor

from viz_core import devices
from viz_core.attribution import METHODS, Target, tokens
from viz_core.encodings import all_encodings
from viz_core.errors import LengthError, UnknownName, UsageError
from viz_core.model import ModelConfig, Transformer

Made = Callable[..., Transformer]
Drawn = Callable[..., list[int]]
Dense = Callable[..., Tensor]
Copier = tuple[Transformer, list[int]]


def vectors(model: Transformer, ids: list[int]) -> tuple[Tensor, Tensor]:
    """Token vectors as they enter [n, w], and the mean vector [w]; float64."""
    weight = model.embedding.weight.double() * model.config.width**0.5
    return weight[ids], weight.mean(0)


@pytest.mark.parametrize("encoding", all_encodings())
def test_integrated_gradients_add_up_to_the_difference_of_outputs(
    encoding: str, small: Made, drawn: Drawn, dense: Dense
) -> None:
    model, ids = small(encoding), drawn(24)
    for target in (Target.following(ids, [20]), Target((5, 22), (3, 3), "difference", (1, 2))):
        found = tokens.attribute(model, ids, target, steps=200)
        own, mean = vectors(model, ids)
        outputs = []
        for entering in (own, mean.expand_as(own)):
            logits = dense(model, entering)[list(target.queries)]
            rows = torch.arange(len(logits))
            value = logits.log_softmax(-1)[rows, list(target.tokens)]
            if target.others:
                value = value - logits.log_softmax(-1)[rows, list(target.others)]
            outputs.append(float(value.mean()))
        assert found.output == pytest.approx(outputs[0], abs=1e-3)
        assert found.baseline == pytest.approx(outputs[1], abs=1e-3)
        gap = found.value.sum() - (found.output - found.baseline)
        assert found.delta == pytest.approx(gap)
        assert abs(found.delta) < 0.01 * abs(found.output - found.baseline)
        assert found.warning == ""
        assert found.value.shape == (24,)
        assert not found.value[target.reads :].any()
        assert found.value[: target.reads].all()


def test_it_is_what_captums_layer_methods_say_of_the_embedding(small: Made, drawn: Drawn) -> None:
    """They hook the model, and take token ids; token 0 is made the mean of all, their baseline."""
    model, ids = small("rope"), torch.tensor([drawn(16)])
    model.embedding.weight[0] = model.embedding.weight[1:].mean(0)
    target = Target((15,), (7,))

    def number(ids: Tensor) -> Tensor:
        return target.value(model, model(ids).stream)

    expected = {
        "integrated-gradients": LayerIntegratedGradients(number, model.embedding).attribute(
            ids, torch.zeros_like(ids), n_steps=20
        ),
        "gradient-x-activation": LayerGradientXActivation(number, model.embedding).attribute(ids),
    }
    for method, values in expected.items():
        found = tokens.attribute(model, ids[0].tolist(), target, method, steps=20)
        np.testing.assert_allclose(found.value, values[0].sum(-1).detach(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("encoding", ["learned", "alibi"])
def test_ablation_and_occlusion_are_what_is_lost_without_the_tokens(
    encoding: str, small: Made, drawn: Drawn, dense: Dense
) -> None:
    model, ids = small(encoding), drawn(11)
    own, mean = vectors(model, ids)

    def without(hidden: range) -> float:
        entering = own.clone()
        entering[list(hidden)] = mean
        return float(dense(model, entering)[8, 5])

    lost = [without(range(0)) - without(range(j, j + 1)) for j in range(9)]
    found = tokens.attribute(model, ids, Target((8,), (5,), "logit"), "feature-ablation")
    np.testing.assert_allclose(found.value, [*lost, 0, 0], rtol=1e-3, atol=1e-3)
    windows = {a: without(range(0)) - without(range(a, a + 4)) for a in range(6)}
    mean_of = [np.mean([windows[a] for a in windows if a <= j < a + 4]) for j in range(9)]
    found = tokens.attribute(model, ids, Target((8,), (5,), "logit"), "occlusion", window=4)
    np.testing.assert_allclose(found.value, [*mean_of, 0, 0], rtol=1e-3, atol=1e-3)
    assert found.steps is None
    assert found.warning == ""  # no sum is promised, so none is missed
    assert abs(found.delta) > 0.01


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_what_a_head_copies_from_distance_7(method: str, copier: Copier) -> None:
    model, ids = copier
    for query in (7, 20, 41):
        found = tokens.attribute(model, ids, Target.following(ids, [query]), method)
        assert query - int(np.abs(found.value).argmax()) == 7
        assert found.value[query - 7] > 0


@pytest.mark.parametrize("method", METHODS)
def test_of_many_queries_it_is_the_mean_of_each(method: str, small: Made, drawn: Drawn) -> None:
    model, ids = small("t5"), drawn(14)
    queries = [4, 7, 12]
    together = tokens.attribute(model, ids, Target.following(ids, queries), method, 20, window=1)
    each = [
        tokens.attribute(model, ids, Target.following(ids, [q]), method, 20, window=1).value
        for q in queries
    ]
    np.testing.assert_allclose(together.value, np.mean(each, axis=0), rtol=1e-3, atol=1e-4)


def test_too_few_steps_are_said(small: Made, drawn: Drawn) -> None:
    model, ids = small("nope"), drawn(20)
    found = tokens.attribute(model, ids, Target.following(ids, [18]), steps=1)
    assert abs(found.delta) > 0.05 * abs(found.output - found.baseline)
    assert f"differs by {found.output - found.baseline:.3g}: 1 steps are too few" in found.warning
    assert f"add up to {found.value.sum():.3g} where" in found.warning


def test_threads_that_share_a_model_do_not_disturb_each_other(small: Made, drawn: Drawn) -> None:
    model = small("alibi")
    jobs = [(method, drawn(40, seed)) for seed in range(3) for method in METHODS]

    def run(job: tuple[str, list[int]]) -> np.ndarray:
        method, ids = job
        return tokens.attribute(model, ids, Target.following(ids, [30]), method, 15).value

    alone = [run(job) for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(run, jobs * 3))
    for i, found in enumerate(at_once):
        np.testing.assert_allclose(found, alone[i % len(jobs)], rtol=1e-6, atol=1e-9)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


@pytest.mark.parametrize("method", METHODS)
def test_progress_is_told_and_may_cancel(method: str, small: Made, drawn: Drawn) -> None:
    model, ids = small("rope"), drawn(12)
    told = list[float]()
    ask = (model, ids, Target.following(ids, [10]), method, 8, 3)
    tokens.attribute(*ask, told.append)
    assert told == sorted(told)
    assert told[-1] == 1

    def stop(done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokens.attribute(*ask, stop)


def test_long_texts_go_in_one_at_a_time(
    small: Made, drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chunks that steps and ablations come in change no number."""
    model, ids = small("sinusoidal"), drawn(20)
    for method in METHODS:
        found = []
        for cells in (1, 64, 10_000):
            monkeypatch.setattr(tokens, "TOGETHER", cells)
            found.append(
                tokens.attribute(model, ids, Target.following(ids, [18]), method, 10).value
            )
        np.testing.assert_allclose(found[0], found[1], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(found[0], found[2], rtol=1e-3, atol=1e-4)


def test_a_model_in_training_keeps_no_gradient_and_captum_says_nothing(drawn: Drawn) -> None:
    torch.manual_seed(0)
    model, ids = Transformer(ModelConfig("t5", 1, 2, 16, 24, 32)), drawn(8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in METHODS:
            tokens.attribute(model, ids, Target.following(ids, [6]), method, 4)
    assert all(p.grad is None for p in model.parameters())


def test_what_cannot_be_asked(small: Made, drawn: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    model, ids = small("learned"), drawn(40)
    target = Target.following(ids, [20])
    with pytest.raises(UnknownName, match="integrated-gradients"):
        tokens.attribute(model, ids, target, "shapley")
    for steps, window in ((0, 3), (5, 0)):
        with pytest.raises(UsageError, match="at least 1 step"):
            tokens.attribute(model, ids, target, steps=steps, window=window)
    with pytest.raises(UsageError, match="got 20"):
        tokens.attribute(model, ids[:20], target)
    with pytest.raises(LengthError, match="undefined past its 32"):
        tokens.attribute(model, ids, Target.following(ids, [35]))
    assert tokens.attribute(model, ids, target).value.shape == (40,)  # later tokens don't matter
    free = int(25 * tokens.bytes_per_token(model.config) / 0.8)
    monkeypatch.setattr(devices, "free_bytes", lambda device: free)
    with pytest.raises(LengthError, match="more than is free; choose at most 25") as caught:
        tokens.attribute(model, ids, Target.following(ids, [30]))
    assert caught.value.largest == 25
    tokens.attribute(model, ids, Target.following(ids, [24]))
