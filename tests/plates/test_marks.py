"""Plates that say where to look draw the same lines as the page."""

from itertools import pairwise

import pytest

from viz_core import plates
from viz_core.export.target import Target
from viz_core.figures.spec import Chart, Heatmap

MAPS = {"places": ["alibi.3.5", "rope.2.4"], "text": "random", "texts": 2, "length": 512}


def spec(plate: str, **options: object):
    return plates.get(plate).export({**MAPS, **options}, Target()).spec


def test_maps_have_no_lines_unless_asked() -> None:
    assert not any(p.guides for p in spec("map").panels if isinstance(p, Heatmap))


def test_a_map_of_a_window_has_the_reach_and_the_crests_that_cross_it() -> None:
    found = spec("map", marks="yes", queries=["64:128"], keys=["0:64"])
    alibi, rope = (p for p in found.panels if isinstance(p, Heatmap))
    assert [g.key for g in alibi.guides] == [4, None]
    assert alibi.guides[1].distance == pytest.approx(73.68, abs=0.01)
    crests = [g.distance for g in rope.guides if g.key is None]
    apart = [b - a for a, b in pairwise(crests)]
    assert apart == pytest.approx([6.283] * len(apart), rel=0.02)
    assert "crests of the head's strongest wave" in found.caption
    assert "first 4 keys" in found.caption


def test_curves_have_the_same_places_as_marks() -> None:
    found = spec("curves", marks="yes", places=["t5.3.3"], x_scale="log")
    (chart,) = (p for p in found.panels if isinstance(p, Chart))
    places = [place for place, _ in chart.marks]
    assert 112.5 in places
    assert len(places) > 10
    plain = spec("curves", places=["t5.3.3"], x_scale="log")
    assert [len(p.marks) for p in plain.panels if isinstance(p, Chart)] == [1]
