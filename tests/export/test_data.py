"""The numbers behind a figure, as arrays and as a table."""

from __future__ import annotations

import csv
import io
import json

import numpy as np

from viz_core.export import data
from viz_core.export.provenance import digest
from viz_core.figures.spec import Axis, Band, Chart, FigureSpec, Heatmap, Line, Scale

VALUE = np.array([[-1.0, np.nan], [-2.5, -0.1]], np.float32)
COUNT = np.array([[3, 0], [4, 3]])
MAP = Heatmap(
    *("map", "alibi", VALUE, COUNT, (8, 12), (0, 4), 2, "log10 A"),
    Scale("cividis", -3.0, 0.0, "A", ()),
)
X, Y = np.array([1.0, 2.0]), np.array([0.1, np.nan])
LINES = (Line("a", X, Y, "rope", band=Band(Y - 1, Y + 1, "95 %")), Line("b", X, X, "ink"))
SPEC = FigureSpec((MAP, Chart("t, u", "rope", LINES, Axis("x"), Axis("y"))), "caption", "alt")


def test_every_array_that_is_drawn_has_a_name() -> None:
    found = data.arrays(SPEC)
    assert list(found) == [
        *("panel1_value", "panel1_count", "panel1_rows", "panel1_columns", "panel1_cell"),
        *("panel2_line1_x", "panel2_line1_y", "panel2_line1_low", "panel2_line1_high"),
        *("panel2_line2_x", "panel2_line2_y"),
    ]
    np.testing.assert_array_equal(found["panel1_value"], VALUE)
    np.testing.assert_array_equal(found["panel1_rows"], [8, 12])


def test_an_npz_gives_the_same_arrays_back_without_pickle() -> None:
    about = json.dumps({"θ": 1})
    with np.load(io.BytesIO(data.npz(SPEC, about)), allow_pickle=False) as kept:
        for name, array in data.arrays(SPEC).items():
            np.testing.assert_array_equal(kept[name], array)
            assert kept[name].dtype == array.dtype
        assert str(kept["about"]) == about
    assert data.npz(SPEC, about) == data.npz(SPEC, about)


def test_the_table_has_a_row_per_point_and_per_cell_that_holds_a_pair() -> None:
    text = data.table(SPEC, "python -m x", '{"a": 1}')
    first, second, *rows = text.splitlines()
    assert (first, second) == ("# python -m x", '# {"a": 1}')
    found = list(csv.DictReader(rows))
    cells, points = found[:3], found[3:]
    assert [(c["x"], c["y"], c["value"], c["count"]) for c in cells] == [
        ("0", "8", "-1.0", "3"),
        ("0", "10", "-2.5", "4"),
        ("2", "10", "-0.1", "3"),  # float32 as it is, not -0.10000000149
    ]
    assert [(p["series"], p["x"], p["y"], p["low"], p["high"]) for p in points] == [
        ("a", "1.0", "0.1", "-0.9", "1.1"),
        ("a", "2.0", "", "", ""),
        ("b", "1.0", "1.0", "", ""),
        ("b", "2.0", "2.0", "", ""),
    ]
    assert {p["title"] for p in points} == {"t, u"}


def test_a_digest_is_of_names_types_shapes_and_values() -> None:
    plain = {"a": np.arange(4.0)}
    same = {"a": np.arange(8.0)[::2] / 2}  # not contiguous
    assert digest(plain) == digest(same)
    for other in (
        {"b": np.arange(4.0)},
        {"a": np.arange(4.0, dtype=np.float32)},
        {"a": np.arange(4.0).reshape(2, 2)},
        {"a": np.array([0.0, 1.0, 2.0, np.nextafter(3.0, 4.0)])},
    ):
        assert digest(plain) != digest(other)
