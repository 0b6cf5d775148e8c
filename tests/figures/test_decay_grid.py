"""The grid of decay curves, from arrays whose content is known."""

from __future__ import annotations

import numpy as np

from tests.figures.paper_examples import GRID_HEADS, LAYERS, D, grid, grid_side
from viz_core.figures import decay_grid


def test_a_row_per_side_and_a_column_per_layer_on_the_same_axes() -> None:
    panels = grid().panels
    assert [p.title for p in panels] == [
        *("ALiBi, layer 1", "ALiBi, layer 3"),
        *("RoPE, layer 1", "RoPE, layer 3"),
    ]
    assert len({(p.x, p.y) for p in panels}) == 1


def test_curves_lie_on_their_laws_which_start_at_0() -> None:
    lines = grid().panels[0].lines
    curves, laws = lines[:GRID_HEADS], lines[GRID_HEADS:]
    for curve, law in zip(curves, laws, strict=True):
        assert law.y[0] == 0 and law.dash == "dash" and law.accent == "ink"
        np.testing.assert_allclose(curve.y, law.y, atol=1e-9)
    assert [c.shade for c in curves] == [0.0, 0.5, 1.0]


def test_layers_without_a_law_start_at_0_themselves() -> None:
    law = grid_side().law.copy()
    law[1] = np.nan  # as the higher layers of learned positions
    first, second = grid(grid_side(law=law)).panels
    assert (len(first.lines), len(second.lines)) == (2 * GRID_HEADS, GRID_HEADS)
    assert all(line.y[0] == 0 for line in second.lines)


def test_steep_heads_are_cut_and_the_caption_says_what_is_dashed() -> None:
    spec = grid(grid_side(law=np.full((LAYERS, GRID_HEADS, D), np.nan)), grid_side("RoPE", "rope"))
    assert spec.panels[0].y.range[0] == -decay_grid.DEEPEST
    assert "over 42 texts of 64 tokens; the first 4 keys left out" in spec.caption
    assert "starts at 0; ALiBi without one." in spec.caption
