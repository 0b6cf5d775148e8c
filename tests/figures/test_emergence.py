"""What emerges in training: a place for the untrained model, medians over heads, nulls."""

from __future__ import annotations

import numpy as np
import pytest

from tests.figures.emergence_examples import NONE, STEPS, training
from viz_core.figures import emergence
from viz_core.figures.spec import Chart, Line


def charts(*some: emergence.Training) -> dict[str, Chart]:
    spec = emergence.build(some)
    return {p.title: p for p in spec.panels if isinstance(p, Chart)}


def line(chart: Chart, name: str) -> Line:
    (found,) = [one for one in chart.lines if one.name == name]
    return found


def test_the_untrained_model_stands_before_the_first_step_and_is_called_0() -> None:
    spec = emergence.build([training()])
    for panel in spec.panels:
        assert isinstance(panel, Chart) and panel.x.log and panel.x.ticks and panel.x.range
        zero, label = panel.x.ticks[0]
        first = 10 * 4096 / 1e6
        ((broken, _),) = panel.marks
        assert label == "0" and panel.x.range[0] < zero < broken < first
        assert line(panel, "RoPE").x.tolist() == [zero, first, 10 * first, 100 * first]
        assert line(panel, "RoPE").notes[0].startswith("step 0")
    assert "at 0, stands before the dotted line" in spec.caption


def test_a_training_that_begins_later_has_no_zero() -> None:
    steps = STEPS + 5
    chart = charts(training(step=steps, tokens=steps * 4096))["Reach"]
    assert not chart.marks and chart.x.ticks and chart.x.ticks[0][1] != "0"


def test_steps_are_the_axis_where_tokens_are_not_known() -> None:
    chart = charts(training(tokens=np.full(4, np.nan)))["Reach"]
    assert chart.x.label == "training step (log scale)"
    assert line(chart, "RoPE").x[1:].tolist() == [10, 100, 1000]
    assert line(chart, "RoPE").notes[1] == "step 10"


def test_every_head_is_faint_and_the_median_strong() -> None:
    chart = charts(training())["Ripples, size"]
    heads = [one for one in chart.lines if one.group]
    assert len(heads) == 8 and heads[5].name == "RoPE, layer 2, head 2"
    strong = line(chart, "RoPE")
    assert strong.strong and strong.label == "RoPE"
    assert strong.y == pytest.approx(np.median([one.y for one in heads], axis=0))
    assert line(chart, "RoPE, its null").dash == "dot"
    assert line(chart, "RoPE, its null").y == pytest.approx([0.02] * 4)


def test_each_statistic_stands_beside_what_it_is_compared_with() -> None:
    found = charts(training("alibi"), training("rope"))
    assert list(found) == ["Slope", "Reach", "Ripples, shape", "Ripples, size", "Sink", "Loss"]
    assert found["Slope"].levels == ((1.0, "as set"),)
    assert found["Reach"].levels == ((300.0, "uniform attention"),)
    assert found["Sink"].levels == ((pytest.approx(0.04), "uniform attention"),)
    assert line(found["Reach"], "ALiBi, the bias alone").dash == "dash"
    assert {one.name for one in found["Slope"].lines if not one.group} == {"ALiBi"}
    assert line(found["Loss"], "RoPE").band is not None


def test_what_nobody_measured_has_no_panel() -> None:
    bare = training(values={"reach": NONE + 1, "reach_even": NONE + 2, "reach_nominal": NONE})
    bare.values["reach"][:] = 10.0
    bare.values["reach_even"][:] = 300.0
    none = np.full(4, np.nan)
    found = charts(training(values=bare.values, loss=none, low=none, high=none))
    assert list(found) == ["Reach"]
    only = charts(training(values={}))
    assert list(only) == ["Loss"]


def test_a_head_without_a_value_is_left_out_of_the_median() -> None:
    one = training()
    swing = one.values["swing"].copy()
    swing[2, :7] = np.nan
    swing[3] = np.nan
    assert emergence.median(swing)[2] == pytest.approx(swing[2, 7])
    assert np.isnan(emergence.median(swing)[3])
