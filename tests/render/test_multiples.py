"""Small multiples: every curve of every panel, in its own place, labels on the outside alone."""

from itertools import pairwise

import numpy as np

from viz_core.figures.spec import Axis, Band, Chart, Line
from viz_core.render import multiples, palette

X = np.arange(5.0)


def panels(count: int = 6, log: bool = False) -> list[Chart]:
    line = Line("RoPE", X + log, X, "rope", band=Band(X - 1, X + 1, "error"), strong=True)
    law = Line("law", X + log, X, "ink", dash="dash")
    x = Axis("distance", (1, 10) if log else (0, 4), log)
    return [
        Chart(f"L1 H{i + 1}", "ink", (line, law), x, Axis("nats", (-1, 5)), read="{x:.0f}\n{y:.2f}")
        for i in range(count)
    ]


def test_panels_stand_in_rows_and_do_not_touch() -> None:
    figure = multiples.multiples(panels(), across=4).to_dict()
    layout = figure["layout"]
    x = [layout["xaxis" if i == 0 else f"xaxis{i + 1}"]["domain"] for i in range(6)]
    y = [layout["yaxis" if i == 0 else f"yaxis{i + 1}"]["domain"] for i in range(6)]
    assert all(a[1] < b[0] for a, b in pairwise(x[:4]))
    assert x[4] == x[0]
    assert y[4][1] < y[0][0]
    assert min(min(d) for d in x + y) >= 0
    assert max(max(d) for d in x + y) <= 1


def test_tick_labels_stand_outside_alone() -> None:
    layout = multiples.multiples(panels(), across=4).to_dict()["layout"]
    names = ["", "2", "3", "4", "5", "6"]
    assert [layout[f"yaxis{n}"]["showticklabels"] for n in names] == [1, 0, 0, 0, 1, 0]
    # the last two of the first row have nothing below them
    assert [layout[f"xaxis{n}"]["showticklabels"] for n in names] == [0, 0, 1, 1, 1, 1]


def test_each_panel_has_its_title_curve_band_and_law() -> None:
    figure = multiples.multiples(panels(2), across=2, dark=True).to_dict()
    assert [a["text"] for a in figure["layout"]["annotations"]][2:] == ["L1 H1", "L1 H2"]
    for n in ("x", "x2"):
        traces = [t for t in figure["data"] if t["xaxis"] == n]
        assert [t["name"] for t in traces] == ["RoPE, error", "RoPE", "law"]
        assert traces[1]["line"]["color"] == palette.accent("rope", dark=True)
        assert traces[2]["line"]["dash"] == "dash"
        assert "L1 H" in traces[1]["hovertemplate"]


def test_a_logarithmic_axis_has_its_limits_as_powers() -> None:
    layout = multiples.multiples(panels(1, log=True), across=1).to_dict()["layout"]
    assert layout["xaxis"]["type"] == "log"
    np.testing.assert_allclose(layout["xaxis"]["range"], (0, 1))
