"""The figures of Extrapolation: what is on which axis, and what the captions own up to."""

from dataclasses import replace

import numpy as np
import pytest

from viz_core.figures import _axes, extrapolation, mechanism, position_loss, training_curves
from viz_core.figures.spec import Chart


def series(**change: object) -> extrapolation.Series:
    loss = np.array([4.2, 4.0, 4.1, 4.5])
    values = {
        "name": "RoPE",
        "label": "RoPE",
        "accent": "rope",
        "trained_length": 512,
        "length": np.array([256, 512, 1024, 2048]),
        "loss": loss,
        "low": loss - 0.1,
        "high": loss + 0.1,
        "difference": loss - 4.0,
        "difference_low": loss - 4.05,
        "difference_high": loss - 3.95,
        "tokens": np.full(4, 8400),
        "documents": np.full(4, 42),
    }
    return extrapolation.Series(**{**values, **change})


def chart(*drawn: extrapolation.Series, **more: object) -> Chart:
    spec = extrapolation.build(drawn, "Fixed targets", "the same tokens", "prose", **more)
    return spec.panels[0]


def test_perplexity_is_e_to_the_loss_on_logarithmic_axes() -> None:
    panel = chart(series())
    line = panel.lines[-1]
    np.testing.assert_allclose(line.y, np.exp([4.2, 4.0, 4.1, 4.5]))
    np.testing.assert_allclose(line.band.high, np.exp([4.3, 4.1, 4.2, 4.6]))
    assert (panel.x.log, panel.y.log) == (True, True)
    assert [label for _, label in panel.x.ticks] == ["256", "512", "1,024", "2,048"]
    assert panel.marks == ((512.0, "trained length 512"),)


def test_loss_and_difference_are_drawn_as_they_are() -> None:
    np.testing.assert_allclose(chart(series(), measure="loss").lines[-1].y, [4.2, 4.0, 4.1, 4.5])
    panel = chart(series(), measure="difference")
    np.testing.assert_allclose(panel.lines[-1].y, [0.2, 0.0, 0.1, 0.5], atol=1e-12)
    np.testing.assert_allclose(panel.lines[-1].band.low, [0.15, -0.05, 0.05, 0.45], atol=1e-12)
    assert panel.levels == ((0.0, ""),)
    assert len(panel.lines) == 1


def test_the_context_cut_to_the_trained_length_is_a_level_from_there_on() -> None:
    flat, _ = chart(series(), measure="loss").lines
    assert flat.dash == "dash"
    assert not flat.strong
    np.testing.assert_allclose(flat.y, [np.nan, 4.0, 4.0, 4.0])
    assert len(chart(series(cut=False)).lines) == 1
    unpaired = series(difference=np.full(4, np.nan))
    assert len(chart(unpaired).lines) == 1


def test_the_figure_names_its_protocol_tokens_and_documents() -> None:
    spec = extrapolation.build([series()], "Sliding window", "windows of N tokens", "prose")
    assert "sliding window" in spec.panels[0].title
    for words in ("sliding window: windows of N tokens", "8,400 tokens of 42 documents", "95 %"):
        assert words in spec.caption
    fewer = series(tokens=np.array([8400, 8400, 8400, 100]))
    spec = extrapolation.build([fewer], "Sliding window", "windows", "prose")
    assert "100 to 8,400 tokens" in spec.caption


def test_what_is_undefined_has_no_point_and_is_said() -> None:
    gone = np.array([True, True, False, False])
    values = {n: np.where(gone, 4.0, np.nan) for n in ("loss", "low", "high", "difference")}
    note = "undefined past its 512 trained positions"
    learned = series(name="Learned", **values, tokens=8400 * gone, note=note)
    spec = extrapolation.build([series(), learned], "Fixed targets", "the same tokens", "prose")
    line = next(n for n in spec.panels[0].lines if n.name == "Learned")
    np.testing.assert_array_equal(np.isfinite(line.y), gone)
    assert "Learned: undefined past its 512 trained positions." in spec.caption
    assert "8,400 tokens" in spec.caption  # not "0 to 8,400"


def test_intervals_that_one_document_can_t_give_are_not_claimed() -> None:
    nothing = np.full(4, np.nan)
    alone = series(low=nothing, high=nothing, documents=np.ones(4, int))
    spec = extrapolation.build([alone], "Fixed targets", "the same tokens", "prose")
    assert "Bands" not in spec.caption
    assert "1 document " in spec.caption
    assert not any("95 %" in note for note in spec.panels[0].lines[-1].notes)


def test_points_by_position_stand_in_the_geometric_middle_of_their_bins() -> None:
    loss = np.array([5.0, 4.0])
    s = position_loss.Series(
        *("RoPE", "RoPE", "rope", 512, 4096, np.array([4, 100]), np.array([9, 400])),
        *(loss, loss, loss, np.array([50, 900]), np.array([7, 7])),
    )
    spec = position_loss.build([s, replace(s, name="Learned", length=512)], "prose")
    np.testing.assert_allclose(spec.panels[0].lines[0].x, [6, 200])
    assert "positions 100 to 400" in spec.panels[0].lines[0].notes[1]
    assert "inputs of 4,096 tokens (Learned: 512)" in spec.caption


def test_convergence_and_stability_are_read_off_the_validations() -> None:
    tokens = np.array([1e6, 2e6, 3e6, 4e6])
    s = training_curves.Series("a", "a", "rope", tokens, np.array([5.0, 3.9, 4.1, 3.7]))
    assert training_curves.least(s, 4.0) == 2e6
    assert training_curves.least(s, 3.8) == 4e6
    assert training_curves.least(s, 3.0) is None
    assert training_curves.largest_rise(s) == pytest.approx(0.2)
    falling = replace(s, loss=np.array([5.0, 4.0, 3.0, 2.0]))
    assert training_curves.largest_rise(falling) == 0


def test_other_settings_are_drawn_for_the_angles_alone() -> None:
    share = np.array([0.1, 0.2])
    names = [m.column for m in mechanism.MEASURES]
    plain = mechanism.Series(
        "RoPE", "RoPE", "rope", 512, np.array([512, 1024]), dict.fromkeys(names, share)
    )
    varied = replace(plain, name="PI", accent="linear")
    panels = mechanism.build([plain], "prose", 4, [varied]).panels
    drawn = {p.title: [line.name for line in p.lines] for p in panels}
    assert drawn.pop("RoPE's unseen angles") == ["RoPE", "PI"]
    assert set(map(tuple, drawn.values())) == {("RoPE",)}


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (38, 42, [38, 39, 40, 41, 42]),
        (35, 60, [35, 40, 45, 50, 55, 60]),
        (53, 142, [60, 80, 100, 120, 140]),
        (36, 4000, [100, 300, 1000, 3000]),
        (0.9, 31, [1, 3, 10, 30]),
    ],
)
def test_ticks_are_round_and_neither_few_nor_many(
    low: float, high: float, expected: list[float]
) -> None:
    assert _axes.round_numbers(low, high) == expected


def test_an_axis_holds_all_numbers_and_survives_none() -> None:
    axis = _axes.values([np.array([40.0, np.nan]), np.array([900.0])], "y", True)
    assert axis.range[0] < 40 < 900 < axis.range[1]
    assert all(axis.range[0] <= place <= axis.range[1] for place, _ in axis.ticks)
    assert _axes.values([np.array([np.nan])], "y", True).range is not None
    low, high = _axes.values([np.array([4.0])], "y", False).range
    assert low < 4 < high
    assert _axes.lengths([512.0], "N").range[0] < 512
