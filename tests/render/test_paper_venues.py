"""Widths of venues and of one's own, and text for LaTeX."""

from __future__ import annotations

import pytest

from viz_core.errors import UnknownName, UsageError
from viz_core.render import venues
from viz_core.render.paper import tex

POINTS = 72.27 / 72  # TeX's points in one of PostScript's


@pytest.mark.parametrize(
    ("name", "columns", "points"),
    [
        # \columnwidth and \textwidth as the classes print them, TeX's points
        ("neurips", 1, 397.48499),
        ("iclr", 1, 397.48499),
        ("icml", 1, 234.8775),
        ("icml", 2, 487.8225),
        ("acl", 1, 219.08614),
        ("acl", 2, 455.24408),
        ("ieee", 1, 252.0),
        ("ieee", 2, 516.0),
        ("aaai", 2, 505.89),
        ("cvpr", 1, 237.13594),
        ("cvpr", 2, 496.85625),
        ("jmlr", 1, 433.62),
        ("tmlr", 1, 469.755),
    ],
)
def test_widths_are_those_of_the_classes(name: str, columns: int, points: float) -> None:
    assert venues.venue(name).sheet(columns).width * POINTS == pytest.approx(points, abs=0.02)


def test_every_venue_s_type_is_legible_and_columns_are_narrower_than_the_page() -> None:
    for one in venues.VENUES.values():
        assert one.title >= one.text >= 6
        assert one.column is None or one.column < one.full / 2
        assert one.sheet(1, across=3).across == 3


def test_a_venue_without_columns_has_one() -> None:
    with pytest.raises(UsageError, match="Expected 1 column for NeurIPS"):
        venues.venue("neurips").sheet(2)
    with pytest.raises(UnknownName, match="got 'nips'"):
        venues.venue("nips")


@pytest.mark.parametrize(
    ("text", "points"),
    [("88.9mm", 252.0), ("3.5in", 252.0), ("8.89cm", 252.0), ("252.945pt", 252.0)],
)
def test_widths_in_millimetres_inches_and_tex_s_points(text: str, points: float) -> None:
    assert venues.width(text) == pytest.approx(points)


@pytest.mark.parametrize("text", ["", "in", "3.5", "3.5px", "1in", "99in", "nanin", "-3in"])
def test_what_is_no_width_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="Expected a width from"):
        venues.width(text)


def test_text_for_latex_is_escaped() -> None:
    assert tex.escaped("5 % of a_b & {c} #1 $2 ~^\\") == (
        r"5 \% of a\_b \& \{c\} \#1 \$2 \textasciitilde{}\textasciicircum{}\textbackslash{}"
    )
    assert tex.escaped("2π / θ, −1 × 3") == r"2$\pi$ / $\theta$, $-$1 $\times$ 3"
    assert tex.escaped("Café – “so”") == "Café – “so”"
