"""The figures of Encodings: what is on which axis, and what the captions own up to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from viz_core.figures import encoding_atlas, encoding_parts
from viz_core.figures.encoding_parts import Buckets, Stairs, Vectors, Waves
from viz_core.figures.spec import Chart, Heatmap
from viz_core.types import Window

N, TRAINED = 40, 16


def side(law: np.ndarray, head: int = 0, **change: object) -> encoding_atlas.Side:
    """A side whose map is uniform attention, whatever the law says: figures compute nothing."""
    count = np.tril(np.ones((N, N), dtype=np.int64))
    value = np.broadcast_to(-np.log(np.arange(1, N + 1))[None, :, None], (1, N, N))
    window = Window(np.where(count > 0, value, -np.inf), count, (0, N), (0, N), 1)
    made = encoding_atlas.Side("one", "alibi", TRAINED, N, head, window, law, "the bias")
    return replace(made, **change)


def lines(law: np.ndarray, head: int = 0, **change: object) -> Chart:
    return encoding_atlas.curves([side(law, head, **change)]).panels[0]


LAW = 3.0 - np.outer([0.5, 0.125, 0.03125], np.arange(N))


def test_maps_share_one_scale_and_say_that_no_text_was_read() -> None:
    spec = encoding_atlas.build([side(LAW), side(LAW, title="two")])
    assert all(isinstance(p, Heatmap) for p in spec.panels)
    assert len({p.scale for p in spec.panels}) == 1
    for words in ("no texts read", "one: the bias", "two: the bias", "One colour scale"):
        assert words in spec.caption
    assert "mean of its pairs" not in spec.caption  # single tokens
    assert "One colour scale" not in encoding_atlas.build([side(LAW)]).caption


def test_curves_start_at_zero_and_the_head_in_focus_lies_on_top() -> None:
    panel = lines(LAW, 1)
    focus = panel.lines[-1]
    assert (focus.name, focus.strong, focus.group) == ("head 2", True, "")
    np.testing.assert_allclose(focus.y, -0.125 * np.arange(N))
    others = [line for line in panel.lines if line.group]
    assert [line.name for line in others] == ["head 1", "head 3"]
    assert panel.marks == ((TRAINED, ""),)


def test_steep_heads_are_cut_and_that_is_said() -> None:
    spec = encoding_atlas.curves([side(LAW)])
    low, high = spec.panels[0].y.range
    assert low < -8 < -7.5 < low + 1  # 19.5 nats deep in truth
    assert high > 0
    assert "Cut at -8 nats, 0.03 % of the weight" in spec.caption
    flat = encoding_atlas.curves([side(np.zeros((1, N)))])
    assert "Cut" not in flat.caption
    assert flat.panels[0].y.range[0] <= -1
    assert flat.panels[0].lines[-1].name == "every head"


def test_sides_share_their_axes() -> None:
    one, two = encoding_atlas.curves([side(LAW), side(LAW[2:], title="two")]).panels
    assert (one.x, one.y) == (two.x, two.y)


def test_a_logarithmic_axis_begins_at_distance_one() -> None:
    panel = encoding_atlas.curves([side(LAW)], x_log=True).panels[0]
    assert panel.x.log
    assert panel.x.range == (1, N)
    assert all(line.x[0] == 1 for line in panel.lines)


def test_a_bound_s_factor_starts_with_its_law_and_has_its_caveat() -> None:
    bound = 8.5 / np.sqrt(1 + np.arange(N))
    spec = encoding_atlas.curves([side(LAW[:1], bound=bound)])
    dashed = next(line for line in spec.panels[0].lines if line.dash == "dash")
    assert dashed.accent == "ink"
    np.testing.assert_allclose(dashed.y, 3 * bound / 8.5 - 3)
    for words in ("for constant q and k", "8.5 times as large", "isn't RoPE's decay"):
        assert words in spec.caption
    assert "Dashed" not in encoding_atlas.curves([side(LAW)]).caption


def test_background_heads_are_thinned_and_the_one_in_focus_is_not() -> None:
    long = -np.outer([0.5, 0.25], np.arange(10_000.0))
    background, focus = lines(long, 1).lines
    assert len(background.x) <= encoding_atlas.POINTS
    assert len(focus.x) == 10_000


def test_stairs_step_between_heads() -> None:
    reach = np.array([[1.0, 3.0], [2.0, 6.0], [4.0, 12.0]])
    spec = encoding_parts.build(Stairs(2.0 ** -np.arange(3), reach, (0.5, 0.9), TRAINED))
    low, _ = spec.panels[0].lines
    np.testing.assert_allclose(low.x, [0.5, 1.5, 1.5, 2.5, 2.5, 3.5])
    np.testing.assert_allclose(low.y, [1, 1, 2, 2, 4, 4])
    assert low.notes[2] == "head 2, slope 0.5"
    assert spec.panels[0].levels == ((TRAINED, "trained length 16"),)
    assert "power of two" not in spec.caption
    slopes = np.array([0.25, 0.0625, 0.5])
    again = encoding_parts.build(Stairs(slopes, reach, (0.5, 0.9), TRAINED))
    assert "3 is no power of two, so from head 3 on" in again.caption


def test_buckets_step_at_their_first_distances() -> None:
    part = Buckets(np.array([0, 1, 2, 2, 2, 3, 3]), 4, 5)
    assert part.spans == [(0, 0, 0), (1, 1, 1), (2, 2, 4), (3, 5, 6)]
    spec = encoding_parts.build(part)
    (line,) = spec.panels[0].lines
    np.testing.assert_allclose(line.x, [1, 2, 2, 5, 5, 7])  # distance 0 has no place on a log axis
    np.testing.assert_allclose(line.y, [1, 1, 2, 2, 3, 3])
    assert line.notes[2] == "distances 2–4"
    assert "The last, 3, begins at distance 5 and has no end. Dotted" in spec.caption
    short = encoding_parts.build(Buckets(part.bucket[:5], 4, 5))
    assert "The last, 3, begins past these." in short.caption


@pytest.mark.parametrize("scaled", [False, True])
def test_waves_that_never_come_round_are_counted(scaled: bool) -> None:
    plain = 2 * np.pi / np.array([4.0, 15.0, 17.0, 400.0])
    theta = plain / 2 if scaled else plain
    part = Waves(theta, plain, TRAINED, *(("linear", "PI s = 2") if scaled else ()))
    spec = encoding_parts.build(part)
    last = spec.panels[0].lines[-1]
    np.testing.assert_allclose(last.y, np.array([4, 15, 17, 400]) * (2 if scaled else 1))
    assert last.notes[0] == ("2 turns within L" if scaled else "4 turns within L")
    assert len(spec.panels[0].lines) == 1 + scaled
    said = "3 of 4 pairs (2 before scaling) never" if scaled else "2 of 4 pairs never"
    assert said in spec.caption


def test_vectors_are_a_matrix_and_a_curve() -> None:
    value = np.zeros((5, 6))
    similarity = np.linspace(1, -0.5, N)
    spec = encoding_parts.build(Vectors(value, np.arange(6), similarity, TRAINED))
    image, chart = spec.panels
    assert image.value is value
    assert (image.scale.low, image.scale.high) == (-1, 1)
    assert image.where == "positions 0–4 down, channels 0–5 across"
    np.testing.assert_allclose(chart.lines[0].y, similarity)
    low, high = chart.y.range
    assert low < -0.5 < 1 < high
    few = encoding_parts.build(Vectors(value, np.array([0, 1, 8, 9, 16, 17]), similarity, TRAINED))
    assert "channels 0–17 across, 6 of them" in few.caption
