"""The figures of Decay: what is on which axis, what is left out, what captions own up to."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.figures import decay_examples as examples
from tests.figures.decay_examples import EXAMPLES, HEADS, LAYERS, PAIRS, THETA, M
from viz_core.figures import (
    all_figures,
    bucket_edges,
    difference,
    frequency_use,
    head_curves,
    slopes,
    spectra,
    stairs,
)
from viz_core.figures.spec import Chart, Heatmap
from viz_core.render import canvas, screen


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_figure_says_what_was_averaged_and_can_be_drawn(name: str) -> None:
    spec = EXAMPLES[name]()
    assert all_figures()[name].id == name
    assert re.search(r"texts of \d+ tokens", spec.caption)
    assert len(spec.alt) > len(spec.caption)
    for panel in spec.panels:
        if isinstance(panel, Heatmap):
            json.dumps(canvas.message(panel, []), allow_nan=False)
        else:
            names = [trace.name for trace in screen.chart(panel).data]
            assert all((line.group or line.name) in names for line in panel.lines)


def heads(*sides: head_curves.Side, **more: object) -> tuple[Chart, ...]:
    return head_curves.build(sides, "row fixed effects", "all keys in", **more).panels


def test_curves_and_laws_start_together_and_lie_on_each_other() -> None:
    panels = heads(examples.head_curves_side())
    assert [p.title for p in panels] == [f"L{i + 1} H{h + 1}" for i in range(2) for h in range(4)]
    for h, panel in enumerate(panels[:HEADS]):
        curve, law = panel.lines
        assert (curve.dash, law.dash) == ("solid", "dash")
        np.testing.assert_allclose(curve.y, -M[h] * curve.x, atol=1e-9)
        np.testing.assert_allclose(law.y, -M[h] * law.x, atol=1e-9)
        assert curve.notes == tuple(f"{n:,} pairs" for n in PAIRS[curve.x.astype(int)])
    assert len({(p.x, p.y) for p in panels}) == 1
    assert panels[0].y.range[0] >= -head_curves.DEEPEST - 1


def test_without_laws_or_errors_there_are_none_and_the_caption_says_so() -> None:
    side = examples.head_curves_side()
    bare = replace(side, error=None, law=np.full_like(side.law, np.nan))
    spec = head_curves.build([bare], "the mean logit", "all keys in")
    assert all(len(p.lines) == 1 and p.lines[0].band is None for p in spec.panels)
    assert all(p.lines[0].y[0] == 0 for p in spec.panels)
    assert "Bands" not in spec.caption
    assert "alibi have none here" in spec.caption
    assert all(len(p.lines) == 1 for p in heads(side, laws=False))


def test_a_logarithmic_distance_starts_at_1() -> None:
    panel = heads(examples.head_curves_side(), x_log=True)[0]
    assert panel.x.range[0] == 1
    assert panel.lines[0].x[0] == 1


def test_thinned_curves_keep_near_distances_and_the_height_of_ripples() -> None:
    d = np.arange(5000)
    wave = np.cos(2 * np.pi * d / 6.3)
    at = head_curves.thinned(wave)
    assert len(at) <= head_curves.MOST
    assert (np.diff(at) > 0).all()
    np.testing.assert_array_equal(at[: head_curves.WHOLE], np.arange(head_curves.WHOLE))
    far = wave[at[head_curves.WHOLE :]]
    assert np.abs(far).min() > 0.95  # in each stretch a crest and a trough
    wave[1000:] = np.nan  # a steep head's curve ends where nothing is left of it
    assert head_curves.thinned(wave).max() < 1000
    assert head_curves.thinned(wave[:150]).tolist() == list(range(150))


def test_slopes_stand_on_the_diagonal_and_their_errors_in_percent() -> None:
    scatter, errors = slopes.build(examples.slopes_side()).panels
    points = {line.name: line for line in scatter.lines if line.markers}
    known = np.isfinite(points["layer 1"].y)
    np.testing.assert_allclose(points["layer 1"].x[known], M)
    np.testing.assert_allclose(points["layer 1"].y[known], M)
    assert known.sum() == HEADS  # a gap after each: points are not joined
    assert scatter.lines[0].name == "measured = nominal"
    second = next(line for line in errors.lines if line.name == "layer 2" and line.markers)
    np.testing.assert_allclose(second.y[np.isfinite(second.y)], 10)
    bars = next(line for line in errors.lines if line.name == "layer 1, 95 %")
    np.testing.assert_allclose(sorted(set(bars.y[np.isfinite(bars.y)].round(9))), [-5, 5])


def test_a_rising_head_is_off_the_logarithmic_axis_and_counted() -> None:
    side = examples.slopes_side()
    value = side.value.copy()
    value[0, 3] = 0.001
    spec = slopes.build(replace(side, value=value))
    point = next(line for line in spec.panels[0].lines if line.name == "layer 1" and line.markers)
    assert np.isfinite(point.y).sum() == HEADS - 1
    assert "1 head rises" in spec.caption


def test_reach_is_drawn_as_stairs_with_uniform_attention_as_a_level() -> None:
    even = np.array([80.0, 200.0, 280.0])
    panels = stairs.build([examples.stairs_side()], (0.5, 0.9, 0.99), even, 1, "all keys in").panels
    assert [p.levels[0][0] for p in panels] == even.tolist()
    lines = {line.name: line for line in panels[1].lines}
    step, nominal = lines["alibi"], lines["alibi, nominal"]
    np.testing.assert_allclose(step.x, [0.5, 1.5, 1.5, 2.5, 2.5, 3.5, 3.5, 4.5])
    np.testing.assert_allclose(step.y[::2], step.y[1::2])
    np.testing.assert_allclose(nominal.y[::2], np.log(10) / M)
    np.testing.assert_allclose(nominal.y[2::2] / nominal.y[:-2:2], 2)  # the stairs double
    assert lines["alibi, layer 1"].group
    assert nominal.dash == "dash"


def test_bucket_edges_are_marked_where_buckets_are_wide() -> None:
    panel = bucket_edges.build([examples.bucket_edges_side()], "layer 1, head 2").panels[0]
    assert panel.title == "T5 bias · score 0.80 (p 0.005)"
    assert [place for place, _ in panel.marks] == [19, 21, 24, 27, 31, 40, 60, 113]
    assert [word for _, word in panel.x.ticks] == ["19", "27", "40", "60", "113"]  # thinned
    curve, law = panel.lines
    np.testing.assert_allclose(law.y, curve.y, atol=1e-9)  # brought to its level
    lost = bucket_edges.build([examples.bucket_edges_side(np.nan)], "a head").panels[0]
    assert "no edge has room" in lost.title


def test_spectra_keep_their_peaks_where_the_wavelength_is_marked() -> None:
    panel = spectra.build([examples.spectra_side()], 0, 1, "RoPE's wavelengths").panels[0]
    focus = panel.lines[-1]
    assert focus.strong
    assert len(focus.x) <= spectra.BINS
    top = focus.x[focus.y.argmax()]
    assert focus.y.max() == pytest.approx(2.0, rel=0.01)
    assert top == pytest.approx(2 * np.pi / THETA[1], rel=0.01)
    assert [word for _, word in panel.marks] == ["6", "11", "20", "35", "63"]
    places = np.array([place for place, _ in panel.marks])
    assert np.abs(places / top - 1).min() < 0.01
    assert places.max() < panel.x.range[1]


def test_frequency_use_marks_the_pairs_that_never_turned() -> None:
    spec = frequency_use.build([examples.frequency_use_side()], 0, 1)
    panel = spec.panels[0]
    assert panel.marks[0][0] == 512
    focus = panel.lines[-1]
    np.testing.assert_allclose(focus.x, 2 * np.pi / THETA)
    assert focus.notes[8].startswith("pair 8, 0.81 turns")  # the first below one
    assert panel.levels[0][0] == pytest.approx(1 / 16)
    assert "50 %" in spec.caption


def test_a_difference_is_in_nats_about_0_and_its_cells_read_as_ratios() -> None:
    spec = difference.build(*examples.difference_sides(0.5), 32, 64, "layer 1, head 2")
    panel, both, gap = spec.panels
    assert isinstance(panel, Heatmap)
    known = np.isfinite(panel.value)
    np.testing.assert_allclose(10 ** panel.value[known], np.exp(0.5), rtol=1e-5)
    assert panel.scale.low == -panel.scale.high
    assert panel.scale.colours == "balance"
    assert [label for _, label in panel.scale.ticks] == ["−0.5", "−0.25", "0", "+0.25", "+0.5"]
    np.testing.assert_allclose([p for p, _ in panel.scale.ticks][-1], 0.5 / np.log(10))
    slope = np.polyfit(gap.lines[0].x, gap.lines[0].y, 1)[0]
    assert slope == pytest.approx(-0.5)
    for line in both.lines:
        np.testing.assert_allclose(
            np.average(line.y, weights=2 * np.arange(60, 0, -1)), 0, atol=1e-9
        )


def test_layers_and_heads_of_unlike_checkpoints_are_those_that_both_have() -> None:
    small = examples.head_curves_side("rope")
    few = replace(small, curve=small.curve[:1, :2], error=None, law=small.law[:1, :2])
    assert len(heads(examples.head_curves_side(), few)) == 2
    assert len(heads(small)) == LAYERS * HEADS
