"""Marks: lines where landmarks are in the window shown; a sentence where there are none."""

import math
from dataclasses import replace

import pytest

from viz_core.figures import _marks
from viz_core.signatures.landmarks import Landmarks, Stairs, Wave

WHOLE = ((0, 512), (0, 512))
ALIBI = Landmarks(slope=0.03125, reach=math.log(10) / 0.03125)
WAVE = Wave(period=64.0, first=10.0, explained=0.99, expected=0.3, p=0.005)
ROPE = Landmarks(turns=True, wave=WAVE)
T5 = Landmarks(stairs=Stairs((16, 32, 33, 64, 128), 0.8, 0.005))


def distances(marks: Landmarks, box: tuple[tuple[int, int], tuple[int, int]]) -> list[float]:
    return [g.distance for g in _marks.guides(marks, *box) if g.key is None]


def test_the_sink_is_marked_where_its_keys_are_shown() -> None:
    assert [g.key for g in _marks.guides(Landmarks(), *WHOLE)] == [4]
    assert not _marks.guides(Landmarks(), (256, 512), (128, 256))


def test_a_reach_is_one_line_in_windows_that_it_crosses() -> None:
    (line,) = (g for g in _marks.guides(ALIBI, *WHOLE) if g.key is None)
    assert line.distance == pytest.approx(73.68, abs=0.01)
    assert line.label == "90 % within 74"
    assert distances(ALIBI, ((256, 320), (192, 256))) == [line.distance]
    assert not distances(ALIBI, ((448, 512), (0, 64)))  # too far from the diagonal


def test_crests_are_drawn_at_their_distances_one_of_them_named() -> None:
    assert distances(ROPE, WHOLE) == [10.0 + 64.0 * n for n in range(8)]
    named = [g.label for g in _marks.guides(ROPE, *WHOLE) if g.key is None and g.label]
    assert named == ["crests 64.0 apart"]
    assert distances(ROPE, ((256, 384), (0, 128))) == [138.0, 202.0, 266.0, 330.0]


def test_crests_too_fine_for_the_window_are_said_and_seen_from_nearer() -> None:
    fine = replace(ROPE, wave=replace(WAVE, period=6.3))
    assert not distances(fine, WHOLE)
    assert "zoom in to see its crests" in _marks.words(fine, *WHOLE)
    near = ((64, 128), (0, 64))
    assert len(distances(fine, near)) > 10
    assert "6.3 tokens apart" in _marks.words(fine, *near)


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        (replace(ROPE, wave=replace(WAVE, p=0.34)), "No ripple to be seen"),
        (replace(T5, stairs=Stairs((16, 32), 0.01, 0.4)), "No stairs to be seen"),
        (Landmarks(turns=True), "too short to measure"),
        (Landmarks(), "neither stairs nor ripples"),
    ],
)
def test_what_chance_explains_is_said_and_not_drawn(marks: Landmarks, words: str) -> None:
    assert not distances(marks, WHOLE)
    assert not _marks.places(marks, 512, 512, log=False)
    assert words in _marks.words(marks, *WHOLE)
    assert not _marks.legend([marks], [(64, 128)])


def test_edges_stand_between_two_distances_and_apart_from_each_other() -> None:
    assert distances(T5, WHOLE) == [32.5, 63.5, 127.5]


def test_on_a_logarithmic_axis_all_edges_stand() -> None:
    every = [place for place, _ in _marks.places(T5, 512, 0, log=True)]
    assert every == [15.5, 31.5, 32.5, 63.5, 127.5]


def test_words_on_an_axis_keep_clear_of_the_trained_length() -> None:
    marked = _marks.places(replace(ALIBI, reach=500.0), 1024, 512, log=False)
    assert marked == ((500.0, ""),)
