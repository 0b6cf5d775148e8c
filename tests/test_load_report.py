"""The page on reliability, and what a visitor without a browser holds of a page's widgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.Element_pb2 import Element

from benchmarks import load_report, load_widgets
from benchmarks.load_server import own
from viz_core.readers import native

DOCS = Path(__file__).parents[1] / "docs"

RESULTS: dict[str, Any] = {
    "date": "2026-01-02",
    "machine": {"processor": "A", "cores": 2, "memory_bytes": 8 << 30, "system": "Linux"},
    "load": 0.5,
    "threads": "1",
    "nice": 0,
    "people": 3,
    "minutes": 4.0,
    "seconds": [["head", 1.0, 0.2], ["head", 2.0, 0.4], ["length", 3.0, 9.0]],
    "uploads": 1,
    "reopened": 2,
    "memory_bytes": [[60.0 * i, 10**9 + 10**8 * min(i, 3)] for i in range(5)],
    "counted": {
        'atlas_computations_total{outcome="done",what="survey"}': 5,
        'atlas_computations_total{outcome="refused",what="survey"}': 7,
        'atlas_found_total{where="memory"}': 2,
        'atlas_found_total{where="store"}': 1,
    },
    "pages": 2,
    "own_pages": 1,
    "lost": [],
    "strange": ["another page"],
    "differing": [],
}


def test_the_page_says_what_was_measured() -> None:
    said = load_report.markdown(RESULTS)
    assert '`make load ARGS="--people 3 --minutes 4"`' in said
    assert "3 people for 4 minutes: 3 pages, 1 uploads; 5 computations, 3 results found" in said
    assert "Lost: 0. Not what was asked for: 1. Connections that broke" in said
    assert "3 different pages compared with those of one person alone: 0 differ" in said
    assert "| Another head | 2 | 0.4 s | 0.4 s | 0.4 s |" in said
    assert "| Another length | 1 | 9 s | 9 s | 9 s |" in said
    assert "(+0.0 %)" in said and "| minute | 0 | 1 | 2 | 3 | 4 |" in said
    assert "a load of 0.5" in said and "OMP_NUM_THREADS=1" in said and "nice" not in said


def element(kind: str, **fields: Any) -> Element:
    found = Element()
    body = getattr(found, kind)
    body.id = "w"
    for name, value in fields.items():
        if isinstance(value, list):
            getattr(body, name).extend(value)
        else:
            setattr(body, name, value)
    return found


@pytest.mark.parametrize(
    ("kind", "fields", "given", "default"),
    [
        (
            "selectbox",
            {"options": ["a", "b"], "default": 1},
            {"raw_value": "a"},
            {"string_value": "b"},
        ),
        (
            "slider",
            {"options": ["1", "2"], "default": [1]},
            {"raw_value": ["1"]},
            {"string_array_value": {"data": ["2"]}},
        ),
        ("number_input", {"default": 3.0}, {"value": 4.0}, {"double_value": 3.0}),
        ("checkbox", {"default": True}, {"value": False}, {"bool_value": True}),
    ],
)
def test_a_widget_holds_what_the_server_sets_else_what_it_held_else_its_default(
    kind: str, fields: dict[str, Any], given: dict[str, Any], default: dict[str, Any]
) -> None:
    plain, told = element(kind, **fields), element(kind, **fields, **given, set_value=True)
    assert load_widgets.value(plain, None) == default
    set_to = load_widgets.value(told, default)
    assert set_to is not None and set_to != default and set_to.keys() == default.keys()
    assert load_widgets.value(plain, set_to) == set_to
    assert load_widgets.state("w", set_to).WhichOneof("value") == next(iter(default))


def test_what_is_no_widget_holds_nothing() -> None:
    text = Element()
    text.markdown.body = "words"
    assert load_widgets.value(text, None) is None


def test_each_uploads_a_file_of_their_own_with_the_same_weights(tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}.safetensors" for n in (1, 2)]
    for n, path in enumerate(paths):
        path.write_bytes(own(n))
    assert native.sha256(paths[0]) != native.sha256(paths[1])
    first, second = (native.read(path)[0].state_dict() for path in paths)
    assert all((first[name] == second[name]).all() for name in first)


def test_the_page_in_docs_is_made_from_its_numbers() -> None:
    results = json.loads((DOCS / "reliability.json").read_text("utf-8"))
    assert (DOCS / "reliability.md").read_text("utf-8") == load_report.markdown(results)
    assert (results["lost"], results["strange"], results["differing"]) == ([], [], [])
