"""Maps in part: what heading and caption say of a window, and the colours of unusual ones."""

from dataclasses import replace

import numpy as np
import pytest

from viz_core import cells
from viz_core.figures import attention_maps
from viz_core.figures.attention_maps import Side, build, ranges
from viz_core.types import Kind, Pooling, Range, Window

N = 4096


def side(
    rows: Range = (0, N),
    columns: Range = (0, N),
    cell: int = 8,
    kind: Kind = "probability",
    pooling: Pooling = "mean",
    level: float = -7.0,
) -> Side:
    """A map of random values about `level` nats where there are pairs."""
    count = cells.counts(rows, columns, cell).numpy()
    rng = np.random.default_rng(7)
    value = (level + rng.normal(size=(1, *count.shape))).astype(np.float32)
    value[:, count == 0] = -np.inf if kind == "probability" else np.nan
    w = Window(value, count, rows, columns, cell, kind, 1, pooling)
    return Side(w, 0, "RoPE · layer 1, head 1", "rope", 512, N)


ZOOMED = side((512, 768), (0, 256), 1)


def test_ranges_name_their_ends_and_single_tokens() -> None:
    assert ranges((1024, 2048), (0, 1024)) == "queries 1,024–2,047, keys 0–1,023"
    assert ranges((7, 8), (0, 1)) == "query 7, key 0"


def test_heading_and_caption_say_the_whole_map_or_the_window() -> None:
    whole = build([side()])
    assert whole.panels[0].where == "all 4,096 tokens, cells of 8 × 8 tokens"
    assert "over one text of 4,096 tokens: all of it, in cells of 8 × 8 tokens" in whole.caption
    part = build([ZOOMED])
    assert part.panels[0].where == "queries 512–767, keys 0–255, single tokens"
    assert "4,096 tokens: queries 512–767, keys 0–255, in single tokens; queries" in part.caption


def test_sides_with_different_windows_are_told_apart_from_left_to_right() -> None:
    spec = build([ZOOMED, side()])
    assert [p.cell for p in spec.panels] == [1, 8]
    assert [p.rows for p in spec.panels] == [(512, 768), (0, N)]
    assert len({p.scale for p in spec.panels}) == 1
    left, right = spec.caption.index("queries 512–767"), spec.caption.index("all of it")
    assert spec.caption.index("from left to right") < left < right
    assert "from left to right" not in build([ZOOMED, ZOOMED]).caption


@pytest.mark.parametrize(
    ("kind", "pooling", "cell", "name", "each"),
    [
        ("probability", "mean", 8, "mean A", "each the mean of its pairs"),
        ("probability", "max", 8, "largest A", "each the largest of its pairs"),
        ("probability", "max", 1, "A", "in single tokens"),
        ("log", "mean", 8, "geometric mean of A", "each the mean of its pairs"),
    ],
)
def test_what_a_cell_shows_is_said(
    kind: Kind, pooling: Pooling, cell: int, name: str, each: str
) -> None:
    spec = build([side((0, 512), (0, 512), cell, kind, pooling)])
    assert spec.panels[0].of == name
    assert each in spec.caption
    assert ("largest" in spec.panels[0].scale.label) == (name == "largest A")


def test_the_sink_is_mentioned_where_it_is_in_view() -> None:
    assert "leave out the first 4 keys" in build([ZOOMED]).caption
    assert "leave out" not in build([side((512, 768), (4, 256), 1)]).caption


def test_a_window_on_the_sink_alone_has_a_scale_of_its_own() -> None:
    scale = build([side((512, 768), (0, 4), 1, level=-2.0)]).panels[0].scale
    assert scale.low < -2.0 / np.log(10) < scale.high <= 0


def test_a_window_of_nothing_but_faint_attention_still_shows_its_differences() -> None:
    faint = side((3000, 3400), (0, 400), 1, level=-700.0)  # a steep ALiBi head, far away
    scale = build([faint]).panels[0].scale
    values = faint.window.value[0] / np.log(10)
    inside = (values > scale.low) & (values < scale.high)
    assert inside.mean() > 0.9
    beside = build([faint, side()]).panels[0].scale  # next to a map with something to see
    assert beside.low >= -6 > values.max()


@pytest.mark.parametrize("level", [-0.01, -2.0, -50.0])
def test_a_scale_has_room_and_ticks_whatever_is_shown(level: float) -> None:
    one = side((100, 101), (50, 51), 1)
    value = np.full_like(one.window.value, level)
    scale = build([replace(one, window=replace(one.window, value=value))]).panels[0].scale
    assert scale.high - scale.low >= attention_maps.NARROWEST
    assert 1 <= len(scale.ticks) <= attention_maps.TICKS
    for place, label in scale.ticks:
        assert place == pytest.approx(np.log10(float(label)))
        assert scale.low <= place <= scale.high
