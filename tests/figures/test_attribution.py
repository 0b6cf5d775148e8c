"""The figures of Attribution: what is on which axis, and which words come with it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.figures.attribution_examples import (
    HEADS,
    LAYERS,
    SIZE,
    attribution,
    importance_side,
    map_side,
    profiles_side,
    reach_side,
)
from viz_core.figures import attribution_map, distance_profiles, head_importance, reach_curve
from viz_core.figures.spec import Chart, Line


def lines(chart: Chart) -> dict[str, Line]:
    return {line.name: line for line in chart.lines}


def test_a_reach_of_the_whole_length_is_the_level_and_no_point() -> None:
    spec = reach_curve.build([reach_side(), reach_side(place="near", first=1, last=2)])
    far, near = spec.panels
    assert [far.title, near.title] == ["Loss against reach · far", "Loss against reach · near"]
    rope = lines(far)["RoPE"]
    assert rope.x.tolist() == [1, 2, 4, 8]
    np.testing.assert_allclose(rope.y, [0.8, 0.4, 0.2, 0.1])
    assert rope.notes[0] == "95 %: +0.7500 to +0.8500"
    assert far.levels == ((0.0, ""),)
    assert far.marks == ((16.0, "L"),)
    assert far.x.log and not far.y.log
    assert "8 texts of 24 tokens" in spec.caption
    assert "9 to 16 tokens before them (far); 1 to 2" in spec.caption
    assert "L: the trained length, 16 tokens." in spec.caption
    assert "keys kept" not in spec.caption
    assert "the first 4 keys kept" in reach_curve.build([reach_side(kept=4)]).caption


def test_a_single_text_has_no_intervals() -> None:
    none = np.full(5, np.nan)
    one = reach_curve.Series("RoPE", "rope", np.array([1, 2, 4, 8, SIZE]), np.zeros(5), none, none)
    spec = reach_curve.build([reach_side(series=(one,), texts=1)])
    assert "Bands" not in spec.caption and "one text" in spec.caption
    assert set(lines(spec.panels[0])["RoPE"].notes) == {""}
    nothing = np.full((LAYERS, HEADS), np.nan)
    spec = head_importance.build([importance_side(low=nothing, high=nothing)], "zero", "far")
    assert "Bars" not in spec.caption


def test_heads_stand_in_a_grid_with_a_chart_per_layer_on_the_same_axes() -> None:
    spec = head_importance.build([importance_side(), importance_side(name="ALiBi")], "zero", "far")
    titles = [p.title for p in spec.panels]
    assert titles == ["RoPE, layer 1", "RoPE, layer 2", "ALiBi, layer 1", "ALiBi, layer 2"]
    assert len({(p.x, p.y) for p in spec.panels}) == 1
    second = spec.panels[1]
    points, bars = lines(second)["added loss"], lines(second)["95 %"]
    np.testing.assert_allclose(points.y[::2], [0.3, 0.4, 0.5])
    assert np.isnan(points.y[1::2]).all()  # nothing joins one head to the next
    np.testing.assert_allclose(
        bars.y.reshape(-1, 3)[:, :2], [[x - 0.02, x + 0.03] for x in points.y[::2]]
    )
    assert points.notes[::2][0] == "95 %: +0.2800 to +0.3300"
    assert second.y.range[0] < 0 < second.y.range[1]


def test_stretches_of_distances_double() -> None:
    assert distance_profiles.stretches(9).tolist() == [0, 1, 2, 4, 8]
    assert distance_profiles.stretches(8).tolist() == [0, 1, 2, 4]
    assert distance_profiles.stretches(1).tolist() == [0]


def test_even_attention_is_what_rows_of_equal_probability_sum_to() -> None:
    whole = np.tril(np.ones((5, 5))) / np.arange(1, 6)[:, None]
    np.testing.assert_allclose(
        distance_profiles.even(5), [np.trace(whole, -d) for d in range(5)], rtol=1e-12
    )


def test_profiles_are_shares_and_attribution_keeps_its_sign() -> None:
    by_stretch, within = distance_profiles.build([profiles_side()], "token 5").panels
    shares = lines(by_stretch)
    np.testing.assert_allclose(shares["attribution"].y, [0, 0, 0, -1, 0, 0])
    np.testing.assert_allclose(shares["attention"].y, shares["uniform attention"].y)
    assert shares["attention"].y.sum() == pytest.approx(1)
    assert shares["attribution"].notes[3] == "distance 4 to 7"
    assert shares["attribution"].notes[-1] == f"distance 16 to {SIZE - 1}"
    upto = lines(within)
    assert upto["attribution"].y[6] == 0 and upto["attribution"].y[7] == 1
    assert upto["attention"].y[-1] == pytest.approx(1)
    assert upto["attribution"].x[7] == 8  # distance 7 lies below 8


def test_a_head_that_nothing_comes_of_has_a_profile_of_zeros() -> None:
    side = distance_profiles.Side("", "rope", np.ones(4), np.zeros(4))
    assert not lines(distance_profiles.build([side], "it").panels[0])["attribution"].y.any()


def test_attribution_stands_beside_attention_on_a_scale_of_its_own_about_zero() -> None:
    left, right = attribution_map.build(map_side(), attribution(), "token 5").panels
    assert left.unit == "log10 A" and right.unit == "nats"
    assert right.of == "attribution"
    assert (right.scale.low, right.scale.high) == (-1.0, 1.0)
    assert right.value[-1, -8] == 1
    assert np.isnan(right.value[0, 1]) and right.value[0, 0] == 0
    assert right.rows == left.rows == (0, SIZE)


def test_cells_of_a_long_text_hold_the_sums_of_their_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    value = np.tril(rng.normal(size=(7, 7)))
    sums, count = attribution_map.pooled(value, 2)
    assert sums.shape == (4, 4)
    assert sums[1, 0] == pytest.approx(value[2:4, :2].sum())
    assert sums.sum() == pytest.approx(value.sum())
    assert count[0].tolist() == [3, 0, 0, 0] and count[3, 3] == 1
    monkeypatch.setattr(attribution_map, "FINEST", 12)
    spec = attribution_map.build(map_side(), attribution(), "token 5")
    assert spec.panels[1].cell == 2
    assert "each cell the sum" in spec.caption
    nothing = attribution_map.build(map_side(), np.zeros((SIZE, SIZE)), "token 5").panels[1]
    assert nothing.scale.high == 1
