"""The signature figure, from arrays whose content is known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.figures.paper_examples import HEADS, N, staircase, stairs_side
from viz_core.figures import staircase_ripples
from viz_core.figures.spec import Chart, Heatmap


def charts() -> list[Chart]:
    return [p for p in staircase().panels if isinstance(p, Chart)]


def test_maps_come_first_those_of_the_heads_that_are_shown_on_one_scale() -> None:
    panels = staircase().panels
    maps = [p for p in panels if isinstance(p, Heatmap)]
    assert [m.title for m in maps] == [
        f"{name}, layer 3, head {head}" for name in ("ALiBi", "RoPE") for head in (2, 4)
    ]
    assert len({m.scale for m in maps}) == 1
    assert panels[: len(maps)] == tuple(maps)
    assert len(panels) == len(maps) + 4


def test_curves_lie_on_their_laws_which_start_at_0_on_axes_that_both_share() -> None:
    one, other = charts()[:2]
    assert (one.x, one.y) == (other.x, other.y)
    lines = {line.name: line for line in one.lines}
    assert list(lines) == ["head 2", "head 2, law", "head 4", "head 4, law"]
    for head in ("head 2", "head 4"):
        assert lines[f"{head}, law"].y[0] == 0
        np.testing.assert_allclose(lines[head].y, lines[f"{head}, law"].y, atol=1e-9)
        assert lines[f"{head}, law"].dash == "dash"
    assert one.y.range[0] == -staircase_ripples.DEEPEST  # head 2 falls to -14.75


def test_a_side_without_a_law_starts_at_0_itself() -> None:
    lawless = stairs_side(law=np.full((HEADS, N - 4), np.nan))
    chart = next(p for p in staircase(lawless, stairs_side("rope")).panels if isinstance(p, Chart))
    assert [line.name for line in chart.lines] == ["head 2", "head 4"]
    assert all(line.y[0] == 0 for line in chart.lines)


def test_reach_is_a_step_per_head_beside_the_bias_alone_and_uniform_attention() -> None:
    stairs = charts()[2]
    lines = {line.name: line for line in stairs.lines}
    np.testing.assert_array_equal(lines["ALiBi"].x, [0.5, 1.5, 1.5, 2.5, 2.5, 3.5, 3.5, 4.5])
    np.testing.assert_array_equal(lines["ALiBi"].y, [2, 2, 4, 4, 8, 8, 16, 16])
    assert lines["the bias alone"].dash == "dash"
    assert stairs.levels == ((57.6, "uniform attention"),)
    assert stairs.y.log and stairs.y.range[1] > 57.6


def test_the_spectrum_is_by_period_with_rope_s_wavelengths_and_alibi_as_a_null() -> None:
    spectrum = charts()[3]
    assert {line.accent for line in spectrum.lines} == {"alibi", "rope"}
    np.testing.assert_allclose(spectrum.lines[0].x, [2.5, 5.0, 10.0])
    assert [place for place, _ in spectrum.marks] == [5]  # 900 tokens lie beyond the curves


def test_the_caption_states_every_claim_with_its_null() -> None:
    caption = staircase().caption
    assert "over 7 texts of 64 tokens (the trained length)" in caption
    assert "a factor of 2.00 from head to head (95 % interval 1.80 to 2.20; p = 0.020)" in caption
    assert "that of the bias alone by 1.96" in caption
    assert (
        "explain 0.90 to 0.95 of these heads' swings, as many random ones 0.20 to 0.30" in caption
    )
    assert "(p = 0.010)" in caption  # the larger of the two
    longer = staircase(
        stairs_side(trained_length=32), stairs_side("rope", trained_length=32)
    ).caption
    assert "64 tokens (trained at 32)" in longer


@pytest.mark.parametrize(("value", "words"), [(0.0004, "p < 0.001"), (0.5, "p = 0.500")])
def test_small_chances_are_no_zero(value: float, words: str) -> None:
    ripple = np.tile([0.9, 0.2, value], (HEADS, 1))
    assert words in staircase(stairs_side(), stairs_side("rope", ripple=ripple)).caption
