"""Which panels form a block, and which blocks a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from viz_core.figures.spec import Axis, Chart, Heatmap, Line, Scale
from viz_core.render.paper.arrangement import arrange
from viz_core.render.venues import Sheet

SCALE = Scale("cividis", -4.0, 0.0, "A", ())


def heat(title: str, accent: str = "alibi", scale: Scale = SCALE) -> Heatmap:
    value = np.zeros((2, 2), np.float32)
    return Heatmap(title, accent, value, np.ones((2, 2), int), (0, 2), (0, 2), 1, "A", scale)


def chart(title: str, label: str = "x") -> Chart:
    line = Line("a", np.arange(2.0), np.arange(2.0), "rope")
    return Chart(title, "rope", (line,), Axis(label), Axis("y"))


def rows(panels: list[Heatmap | Chart], width: float, across: int | None = None) -> list[list]:
    """Each row as the panels of its blocks."""
    bands = arrange(panels, Sheet(width, across=across))
    return [[list(block.panels) for block in row] for band in bands for row in band.rows]


MIXED = [
    *(heat(f"ALiBi, layer 3, head {h}") for h in (2, 4, 6)),
    *(heat(f"RoPE, layer 3, head {h}", "rope") for h in (1, 6, 8)),
    *(chart(t) for t in ("c", "d", "e", "f")),
]


def test_maps_that_differ_in_their_last_words_are_a_block() -> None:
    (maps, charts) = arrange(MIXED, Sheet(400.0))
    assert [b.heading for b in maps.rows[0]] == ["ALiBi, layer 3", "RoPE, layer 3"]
    assert maps.rows[0][0].columns == ("head 2", "head 4", "head 6")
    assert [b.heading for row in charts.rows for b in row] == ["c", "d", "e", "f"]


def test_rows_hold_as_much_as_is_legible_and_are_evenly_filled() -> None:
    assert rows(MIXED, 500.0) == [[[0, 1, 2], [3, 4, 5]], [[6], [7], [8], [9]]]
    assert rows(MIXED, 396.0) == [[[0, 1, 2], [3, 4, 5]], [[6], [7]], [[8], [9]]]
    assert rows(MIXED, 218.0) == [[[0, 1, 2]], [[3, 4, 5]], [[6], [7]], [[8], [9]]]
    assert rows(MIXED, 500.0, across=1)[2:] == [[[6]], [[7]], [[8]], [[9]]]


def test_titles_that_form_a_table_are_one_block_with_words_at_its_ends() -> None:
    panels = [heat(f"layer {n}, head {h}") for n in (1, 2) for h in (1, 2, 3)]
    ((block,),) = arrange(panels, Sheet(300.0))[0].rows
    assert (block.across, block.down, block.heading) == (3, 2, "")
    assert block.rows == ("layer 1", "layer 2")
    assert block.columns == ("head 1", "head 2", "head 3")


@pytest.mark.parametrize(
    "panels",
    [
        [heat(f"layer {n}, head {h}") for n in (1, 2) for h in (1, 2, 3)][:5],  # one is missing
        [heat("a, 1"), heat("a, 2"), heat("b, 2"), heat("b, 1")],  # out of order
        [heat("a, 1"), heat("a, 2"), heat("b, 1"), heat("b, 2", scale=replace(SCALE, low=-3.0))],
        [chart("a, 1"), chart("a, 2"), chart("b, 1"), chart("b, 2", "other axis")],
    ],
)
def test_what_cannot_be_compared_is_no_table(panels: list[Heatmap | Chart]) -> None:
    assert not any(b.rows for band in arrange(panels, Sheet(500.0)) for r in band.rows for b in r)


def test_maps_on_scales_of_their_own_are_in_bands_of_their_own() -> None:
    other = replace(SCALE, low=-9.0)
    assert len(arrange([heat("a"), heat("b", scale=other)], Sheet(400.0))) == 2


def test_a_lone_map_stands_beside_the_chart_that_follows() -> None:
    assert rows([heat("a"), chart("b")], 300.0) == [[[0], [1]]]


def test_many_maps_of_one_block_take_several_rows() -> None:
    panels = [heat(f"RoPE, head {h}") for h in range(8)]
    ((block,),) = arrange(panels, Sheet(218.0))[0].rows
    assert (block.across, block.down) == (4, 2)


def test_a_chart_alone_leaves_its_title_to_the_caption_and_a_map_keeps_its_own() -> None:
    plain = replace(chart("Perplexity"), accent="ink")
    assert arrange([plain], Sheet(300.0))[0].rows[0][0].heading == ""
    assert arrange([heat("RoPE, layer 3, head 6")], Sheet(300.0))[0].rows[0][0].heading
