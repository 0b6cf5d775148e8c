"""Export under every figure, and the builder: the tray in the session, its address and its JSON."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from pages._shared import export, export_control
from pages._shared.export import Shown
from pages.figures import sheets, sights
from pages.figures import words as figure_words
from tests.visiting import visit
from viz_core import plates
from viz_core.export import KINDS, data, embedded
from viz_core.export.provenance import digest
from viz_core.export.target import Target
from viz_core.plates.tray import MOST, Pin, Tray

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")
SHORT = {"text": "random", "length": "128", "texts": "2"}  # measured in no time, without a corpus
SECRET = "the quick zebra hums beside thirteen lanterns "
TWO = "training-curves~~encoding-curves~encodings-rope"


def opened(page: str = "figures", **query: str) -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300)
    if page != "compare":
        visit(app, page)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def pins(app: AppTest) -> list[str]:
    return [pin.word() for pin in app.session_state["tray"].pins]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> dict[str, Shown]:
    """Every figure that a page lets go, by key, once it has run."""
    found: dict[str, Shown] = {}
    monkeypatch.setattr(export, "row", lambda one, key: found.update({key: one}))
    return found


@pytest.mark.parametrize(
    ("page", "query", "keys"),
    [
        ("compare", SHORT, {"maps", "curves", "wall0", "wall1"}),
        (
            "compare",
            {**SHORT, "view": "one", "linear": "1", "b": "rope.1.1", "za": "0-63.0-31"},
            {"maps", "curves", "wall0"},
        ),
        (
            "decay",
            {},
            {
                *("decay_curves", "decay_slopes_ALiBi", "decay_stairs"),
                *("decay_edges", "decay_spectra", "decay_use"),
            },
        ),
        (
            "decay",
            {"estimator": "mean", "x_log": "1", "law": "0", "chosen": "rope~nope", "head": "7"},
            {"decay_curves", "decay_stairs", "decay_edges", "decay_spectra", "decay_use"},
        ),
        (
            "extrapolation",
            {"measure": "difference"},
            {
                *("lab_encodings", "lab_scalings", "lab_exponents"),
                *("lab_positions", "lab_reported", "lab_training", "lab_why"),
            },
        ),
        (
            "encodings",
            {"a": "rope~scaling-yarn~factor-4", "b": "t5", "z": "512-767.0-255", "x_log": "1"},
            {"atlas_maps", "atlas_curves", "atlas_parts0", "atlas_parts1"},
        ),
    ],
)
def test_what_a_page_shows_is_what_its_pin_draws(page, query, keys, shown) -> None:
    opened(page, **query)
    assert set(shown) == keys
    for key, one in shown.items():
        if key == "lab_reported":
            assert one.pin is None and one.why
            continue
        plot = one.pin.draw()
        drawn, seen = data.arrays(plot.spec), data.arrays(one.spec())
        assert digest(drawn) == digest(seen), key
        assert set(plot.sources) == set(one.sources()), key


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_figure_leaves_in_every_format_with_where_it_comes_from(kind, shown, tmp_path) -> None:
    opened("encodings")
    one = shown["atlas_maps"]
    ready = export.ready(one, Target("icml", 1), 150, {})
    content = export_control.made(ready, kind)
    assert export_control.mime(ready.spec, kind)
    path = tmp_path / f"x.{export_control.ending(ready.spec, kind)}"
    path.write_bytes(content)
    if kind == "pgf":  # its images go with it
        names = zipfile.ZipFile(BytesIO(content)).namelist()
        assert {Path(name).suffix for name in names} == {".pgf", ".png"}
    elif kind == "tex":
        assert ready.provenance.command in content.decode()
    else:
        assert embedded.read(path) == ready.provenance
    assert ready.provenance.command.startswith("python -m viz_core figure encoding-maps")
    assert data.arrays(ready.spec).keys() == data.arrays(one.spec()).keys()


def test_charts_alone_need_no_files_beside_their_pgf(shown) -> None:
    opened("encodings")
    ready = export.ready(shown["atlas_curves"], Target(), 150, {})
    assert export_control.ending(ready.spec, "pgf") == "pgf"
    assert b"\\begin{pgfpicture}" in export_control.made(ready, "pgf")


def test_no_file_of_a_pasted_text_holds_it(shown) -> None:
    app = opened("compare", text="pasted", paste=SECRET * 8, length="64", view="one")
    assert "zebra" in app.query_params["paste"]
    for key in ("maps", "wall0", "curves"):
        one = shown[key]
        assert one.pin is None
        assert "your own text" in one.why
        query = {n: v for n, v in app.query_params.items() if n != "paste"}
        ready = export.ready(one, Target(), 72, query)
        bundle = zipfile.ZipFile(BytesIO(export_control.made(ready, "zip")))
        everything = b"\n".join(bundle.read(name) for name in bundle.namelist())
        for word in SECRET.split()[2:]:
            assert word.encode() not in everything
        about = json.loads(bundle.read("provenance.json"))
        assert about["facts"]["text"] == "a visitor's own, which is not in this file"
        assert about["command"].startswith("make app")


def test_export_opens_under_a_figure_and_complains_in_one_sentence() -> None:
    app = opened("encodings")
    assert not app.get("download_button") or "export_atlas_maps_file" not in {
        button.key for button in app.get("download_button")
    }
    app.session_state["export_atlas_maps"] = True  # as when the popover is opened
    app.run()
    key = "export_atlas_maps"
    assert app.selectbox(key=f"{key}_kind").value == "pdf"
    app.selectbox(key=f"{key}_venue").set_value("own").run()
    app.number_input(key=f"{key}_width").set_value(3.0).run()
    assert [e.value for e in app.error] == [
        "Expected a width from 1.5 to 20 inches, such as 88mm, 3.5in or 252pt; got '3mm'."
    ]
    app.selectbox(key=f"{key}_unit").set_value("in").run()
    assert not app.error and not app.exception
    assert any(c.value.startswith("3.00 in (76 mm) wide") for c in app.caption)


def test_what_was_chosen_for_one_figure_stands_there_for_the_next() -> None:
    app = opened("encodings")
    app.session_state["export_atlas_maps"] = True
    app.run()
    app.selectbox(key="export_atlas_maps_kind").set_value("png").run()
    app.selectbox(key="export_atlas_maps_venue").set_value("acl").run()
    app.button_group(key="export_atlas_maps_columns").set_value(2).run()
    app.session_state["export_atlas_curves"] = True
    app.run()
    assert app.selectbox(key="export_atlas_curves_kind").value == "png"
    assert app.selectbox(key="export_atlas_curves_venue").value == "acl"
    assert any(c.value.startswith("6.30 in") for c in app.caption)


def test_pins_of_two_pages_meet_in_the_builder_and_lead_back() -> None:
    app = opened("encodings", a="rope~scaling-yarn~factor-4")
    app.button(key="pin_atlas_curves").click().run()
    assert app.button(key="pin_atlas_curves").label == "Pinned"
    visit(app, "extrapolation").run()
    app.button(key="pin_lab_training").click().run()
    visit(app, "figures").run()
    assert not app.exception and not app.error
    assert [word.partition("~")[0] for word in pins(app)] == ["encoding-curves", "training-curves"]
    assert app.query_params["pins"] == "~~".join(pins(app))
    first = app.session_state["tray"].pins[0]
    assert figure_words.options(first) == "RoPE scaling yarn factor 4"
    links = [link.proto for link in app.get("page_link")]
    assert "a=rope" in links[0].query_string and "scaling-yarn" in links[0].query_string
    app.query_params.clear()  # as a browser does from page to page
    visit(app, "encodings").run()
    app.button(key="pin_atlas_curves").click().run()  # and out again
    assert [word.partition("~")[0] for word in pins(app)] == ["training-curves"]


def test_nothing_pinned_says_what_pinning_is_and_offers_what_is_ready() -> None:
    app = opened()
    words = " ".join(m.value for m in app.markdown)
    assert "Under every figure stands Pin" in words
    offered = [b.key for b in app.button if b.key.startswith("ready_pin_")]
    assert "ready_pin_staircase-ripples" in offered
    app.button(key="ready_pin_training-curves").click().run()
    assert not app.exception
    assert app.query_params["pins"] == "training-curves"
    assert app.get("page_link")[0].proto.page.endswith("extrapolation")  # which shows the like
    assert any("Figure 1" in h.value for h in app.get("html"))


def test_an_address_reopens_its_tray_with_what_it_is_for() -> None:
    app = opened(v="1", pins=TWO, venue="icml", columns="2", across="1")
    assert not app.error and not app.warning
    assert pins(app) == TWO.split("~~")
    assert app.selectbox(key="tray_venue").value == "icml"
    assert app.button_group(key="tray_columns").value == 2
    assert app.selectbox(key="tray_across").value == 1
    app.selectbox(key="tray_venue").set_value("own").run()
    app.number_input(key="tray_width").set_value(120.0).run()
    assert app.query_params["width"] == "120mm"
    assert "venue" not in app.query_params
    again = opened(**dict(app.query_params.items()))
    assert again.session_state["tray"] == app.session_state["tray"]
    assert again.number_input(key="tray_width").value == 120.0


@pytest.mark.parametrize(
    "query",
    [
        {"v": "7", "pins": TWO},
        {"pins": "pie-chart"},
        {"pins": "training-curves~colour-red"},
        {"pins": "map~places-../etc/passwd.1.1"},
        {"pins": "training-curves", "venue": "nips"},
        {"pins": "training-curves", "width": "3 furlongs"},
        {"pins": "training-curves", "across": "many"},
        {"pins": "~~~~~<script>"},
        {"pins": "~~".join(["training-curves"] * (MOST + 1))},
    ],
)
def test_a_wrong_address_is_one_sentence(query: dict[str, str]) -> None:
    app = opened(**query)
    assert len(app.warning) == 1
    assert app.warning[0].value.startswith("Expected")
    assert "tray" not in app.session_state


def test_a_tray_comes_back_from_its_json_and_a_wrong_one_is_a_sentence() -> None:
    tray = Tray((Pin("training-curves"), Pin("encoding-curves")), Target("acl", 2))
    app = opened()
    app.file_uploader[0].upload("tray.json", tray.to_json().encode()).run()
    assert not app.exception and not app.error
    assert app.session_state["tray"] == tray
    assert app.selectbox(key="tray_venue").value == "acl"
    for wrong in (b"{}", b"[" * 9000, b"\xff\xfe", tray.to_json().encode()[:-9], b"null"):
        app.file_uploader[0].upload("other.json", wrong).run()
        assert not app.exception
        assert len(app.error) == 1
        assert app.error[0].value.startswith("other.json: Expected a tray of figures")
        assert app.session_state["tray"] == tray


def test_pins_are_put_in_order_and_taken_out() -> None:
    app = opened(pins=TWO)
    first, second = TWO.split("~~")
    app.button(key="tray_down0").click().run()
    assert pins(app) == [second, first]
    assert app.button(key="tray_up0").disabled and app.button(key="tray_down1").disabled
    app.button(key="tray_out0").click().run()
    assert pins(app) == [first]
    assert app.query_params["pins"] == first
    app.button(key="tray_out0").click().run()
    assert "pins" not in app.query_params
    assert any("Under every figure" in m.value for m in app.markdown)


def test_a_pin_that_cannot_be_drawn_is_named_and_the_others_stay() -> None:
    app = opened(pins="training-curves~~extrapolation~text-prose")
    assert len(app.error) == 1
    assert app.error[0].value.startswith("Expected losses")
    assert any("Losses by length" in i.value for i in app.info)
    app.button(key="tray_out1").click().run()
    assert not app.error
    assert any("Figure 1" in h.value for h in app.get("html"))


def test_options_are_made_from_what_plates_declare() -> None:
    app = opened()
    for name, plate in plates.all_plates().items():
        if name == "tray":
            continue
        app.selectbox(key="ready_plate").set_value(name).run()
        assert not app.exception and not app.error, name
        keys: set[Any] = {w.key for kind in (app.selectbox, app.text_input) for w in kind}
        keys |= {w.key for w in app.multiselect}
        offered = {option for option in plate.options if option != "table"}  # a path: no visitor's
        assert {f"ready_{name}_{option}" for option in offered} <= keys
        assert f"ready_{name}_table" not in keys
    app.selectbox(key="ready_plate").set_value("stairs").run()
    app.text_input(key="ready_stairs_layer").set_value("0").run()
    assert len(app.error) == 1 and "from 1 on" in app.error[0].value
    app.text_input(key="ready_stairs_layer").set_value("2").run()
    app.button(key="ready_pin").click().run()
    assert pins(app) == ["stairs~layer-2"]


def test_a_full_tray_takes_no_more() -> None:
    every = [f"encoding-curves~model_heads-{n}" for n in range(9, 9 + MOST)]
    app = opened("encodings")
    app.session_state["tray"] = Tray.from_query({"pins": "~~".join(every)})
    app.run()
    button = app.button(key="pin_atlas_curves")
    assert button.disabled and str(MOST) in button.help


def test_greys_stay_and_red_and_green_come_together_without_one_kind_of_cone() -> None:
    greys = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    red, green = np.array([[200, 60, 40]], np.uint8), np.array([[60, 140, 40]], np.uint8)
    before = np.abs(red.astype(int) - green).sum()
    for sight in sights.CONES:
        seen = sights.transformed(greys, sight).astype(int)
        assert np.abs(seen - greys).max() <= 1
    for sight in ("protan", "deutan"):
        a, b = (sights.transformed(c, sight).astype(int) for c in (red, green))
        assert np.abs(a - b).sum() < before / 2
    blue = np.array([[0, 0, 255]], np.uint8)  # dark, and no longer blue
    assert sights.transformed(blue, "tritan")[0].tolist() == [0, 107, 150]


def test_pictures_are_seen_at_their_size() -> None:
    out = BytesIO()
    Image.new("RGB", (30, 20), (200, 60, 40)).save(out, "PNG")
    assert set(sights.NAMES) == {"plain", "grey", *sights.CONES}
    for sight in sights.NAMES:
        with Image.open(BytesIO(sights.seen(out.getvalue(), sight))) as image:
            assert image.size == (30, 20)
            assert (image.mode == "L") == (sight == "grey")


@pytest.mark.parametrize(
    ("width", "paper"),
    [(234.0, {"columns": 2, "gap": 18.0}), (486.0, {"columns": 2, "gap": 18.0}), (396.0, {})],
)
def test_a_sheet_is_as_wide_as_the_page_it_stands_for(width, paper, monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(sheets.st, "html", said.append)
    sheet = sheets.Paper(width, 234.0 if paper else width, **paper)
    sheets.show(b"", "A <b> & c.", 'said "so"', sheet)
    assert f"width: {width * 96 / 72:.2f}px" in said[0]
    assert "A &lt;b&gt; &amp; c." in said[0] and "said &quot;so&quot;" in said[0]
    assert sheet.both == (width == 486.0)
