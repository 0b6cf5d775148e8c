"""The survey of a page is made of the core's own windows and curves."""

import numpy as np
import pytest
import torch

from viz_core import attention, decay
from viz_core.model import ModelConfig, Transformer
from viz_core.survey import Tracer, survey
from viz_core.trace import trace


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(ModelConfig("rope", 2, 3, 24, 50, 32)).eval().requires_grad_(False)


def tracer(model: Transformer) -> Tracer:
    return lambda ids, progress: trace(model, ids, progress)


TEXTS = [[(7 * i + 3 * t) % 50 for i in range(40)] for t in range(3)]


def test_means_are_over_all_texts(model: Transformer) -> None:
    found = survey(tracer(model), TEXTS, "log", pixels=8)
    traces = [trace(model, ids) for ids in TEXTS]
    for layer in range(2):
        expected = attention.mean([attention.log_window(t, layer, pixels=8) for t in traces])
        np.testing.assert_array_equal(found.windows[layer].value, expected.value)
        assert found.windows[layer].texts == 3
        parts = [decay.part(t, layer) for t in traces]
        np.testing.assert_array_equal(found.curves[layer].value, decay.by_distance(parts).value)
        np.testing.assert_allclose(found.slopes[layer], decay.slope(parts))


def test_probability_is_of_the_first_text(model: Transformer) -> None:
    found = survey(tracer(model), TEXTS, "probability", pixels=8)
    alone = attention.window(trace(model, TEXTS[0]), 1, pixels=8)
    np.testing.assert_array_equal(found.windows[1].value, alone.value)
    assert found.windows[1].texts == 1


def test_progress_rises_to_one_and_can_cancel(model: Transformer) -> None:
    seen: list[float] = []
    survey(tracer(model), TEXTS, "log", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[0] == 0.0
    assert seen[-1] == 1.0

    def stop(done: float) -> None:
        if done > 0.3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        survey(tracer(model), TEXTS, "log", progress=stop)
