"""Curves of models that are not ours: keys on both sides, heads without a law, no known length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from viz_core.figures import decay_curves
from viz_core.figures.decay_curves import AFTER, Side
from viz_core.figures.spec import Chart
from viz_core.types import Curve

DISTANCES = 50


@pytest.fixture
def side() -> Side:
    value = -0.1 * np.arange(DISTANCES) * np.array([[1.0], [2.0]]) + 7
    pairs = np.arange(DISTANCES, 0, -1)
    curve = Curve(value, np.full_like(value, 0.1), pairs, 3, 4)
    law = np.stack([value[0], np.full(DISTANCES, np.nan)])
    return Side(curve, law, 1, "a head", "rope", 0)


def chart(side: Side) -> Chart:
    (panel,) = decay_curves.build([side]).panels
    assert isinstance(panel, Chart)
    return panel


def test_a_head_without_a_law_starts_at_its_own_curve_and_has_no_dashes(side: Side) -> None:
    lines = {line.name: line for line in chart(side).lines}
    assert set(lines) == {"head 1", "head 1, law", "head 2"}
    assert lines["head 1"].y[0] == pytest.approx(0) == lines["head 2"].y[0]
    assert all(np.isfinite(line.y).all() for line in lines.values())


def test_an_unknown_trained_length_is_not_drawn(side: Side) -> None:
    assert chart(side).marks == ()
    assert chart(replace(side, trained_length=20)).marks == ((20, "trained length 20"),)


def test_keys_after_the_query_are_a_dotted_line_of_the_head_in_focus(side: Side) -> None:
    ahead = side.curve.value - 1
    both = replace(side, curve=replace(side.curve, ahead=ahead))
    dotted = [line for line in chart(both).lines if line.dash == "dot"]
    assert [line.label for line in dotted] == [AFTER]
    np.testing.assert_allclose(dotted[0].y, ahead[1] - side.curve.value[1, 0])
    assert f"Dotted: {AFTER}" in decay_curves.build([both]).caption
    assert "Dotted" not in decay_curves.build([side]).caption
