"""Names at the ends of curves, words inside charts, and the key below several."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from viz_core.figures.spec import Axis, Chart, FigureSpec, Line
from viz_core.render import palette
from viz_core.render.paper import page, placing, style, words
from viz_core.render.venues import Sheet

X = np.arange(11.0)


def chart(*lines: Line, **change: object) -> Chart:
    panel = Chart("t", "rope", lines, Axis("x", (0.0, 10.0)), Axis("y", (0.0, 10.0)))
    return replace(panel, **change)


def line(name: str, y: np.ndarray, accent: str = "rope", label: str | None = None) -> Line:
    return Line(name, X, y, accent, label=name if label is None else label)


def drawn(*panels: Chart, width: float = 252.0) -> Figure:
    with style.settings(7.0):
        return page.compose(FigureSpec(panels, "", ""), Sheet(width))


def texts(figure: Figure) -> dict[str, tuple[float, float]]:
    """Where each text of the first panel stands, in parts of its axes (left, middle)."""
    ax = figure.axes[0]
    found = {}
    for text in ax.texts:
        box = text.get_window_extent()
        left, middle = ax.transAxes.inverted().transform((box.x0, (box.y0 + box.y1) / 2))
        found[text.get_text()] = (left, middle)
    return found


def test_names_stand_right_of_their_curves_in_their_colours() -> None:
    figure = drawn(chart(line("up", X), line("low", 0.2 * X, "alibi")))
    places = texts(figure)
    assert places["low"][0] > 1 and places["up"][0] > 1
    assert places["low"][1] == pytest.approx(0.2, abs=0.02)
    colours = {text.get_text(): text.get_color() for text in figure.axes[0].texts}
    assert colours == {"up": palette.accent("rope"), "low": palette.accent("alibi")}


def test_names_of_curves_that_meet_stand_apart_and_are_tied_to_them() -> None:
    figure = drawn(chart(line("a", 0.50 * X), line("b", 0.501 * X), line("c", 0.502 * X)))
    places = texts(figure)
    high = figure.axes[0].get_window_extent().height * 72 / figure.dpi
    assert places["b"][1] - places["a"][1] == pytest.approx(placing.LINE * 7 / high, rel=0.05)
    ties = [one for one in figure.axes[0].lines if len(one.get_xdata()) == 2]
    assert len(ties) == 2  # the one in the middle stayed where it was


def test_a_name_stands_where_its_curve_leaves_the_axes() -> None:
    figure = drawn(chart(line("steep", 4 * X), line("flat", 0.5 * X)))
    left, middle = texts(figure)["steep"]
    assert left < 0.5 and 0.3 < middle < 1


def test_words_of_marks_and_levels_keep_off_curves_and_each_other() -> None:
    panel = chart(
        line("curve", np.full(11, 0.3), label=""),
        marks=((5.0, "a mark"),),
        levels=((8.0, "a level"),),
    )
    places = texts(drawn(panel))
    assert places["a mark"][1] > 0.15  # the curve runs along the bottom
    assert places["a level"][1] == pytest.approx(0.8, abs=0.15)
    on_top = texts(drawn(replace(panel, marks_on_top=True)))
    assert on_top["a mark"][1] > 0.8


def test_words_that_would_hide_curves_or_leave_the_axes_are_left_out() -> None:
    dense = [line(str(i), np.where(np.arange(11) % 2, 10.0, 0.0), label="") for i in range(3)]
    x = np.linspace(0, 10, 400)
    comb = Line("comb", x, 5 + 5 * np.sin(40 * x), "rope")
    assert "words" not in texts(drawn(chart(*dense, comb, marks=((5.0, "words"),))))
    assert not texts(drawn(chart(line("a", X, label=""), marks=((5.0, "long words " * 9),))))


def test_charts_that_share_their_names_have_one_key() -> None:
    pair = [chart(line("one", X), line("two", 0.5 * X, "alibi")), chart(line("one", X))]
    assert [k.label for k in words.keys(pair)] == ["one", "two"]
    figure = drawn(*pair)
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["one", "two"]
    assert not figure.axes[0].texts


@pytest.mark.parametrize(
    "panels",
    [
        [chart(line("one", X))],
        [chart(line("one", X)), chart(line("other", X))],
        [chart(line("one", X)), chart(line("one", X, "alibi"))],  # another curve of that name
        [chart(line("one", X, label="")), chart(line("two", X, label=""))],
    ],
)
def test_other_charts_have_none(panels: list[Chart]) -> None:
    assert words.keys(panels) == []


def test_text_is_broken_between_words_alone() -> None:
    room = style.width("geometric mean", 7)
    assert style.lines("geometric mean of attention", 7, room) == ["geometric mean", "of attention"]
    assert style.lines("unbreakable", 7, 1.0) == ["unbreakable"]
    assert style.lines("", 7, 50) == []
