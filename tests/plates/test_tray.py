"""Trays: words that go into an address and back, and figures composed of several."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from urllib.parse import quote

import numpy as np
import pytest

from tests.plates.conftest import MIXED, OF_SHORT
from tests.render.legible import assert_legible, words
from viz_core import plates
from viz_core.errors import AtlasError, UnknownName, UsageError
from viz_core.export import data
from viz_core.export.target import Target
from viz_core.figures.spec import Chart, Heatmap
from viz_core.plates import tray
from viz_core.plates._pins import of_word
from viz_core.plates.tray import MOST, Pin, Tray
from viz_core.render.paper import arrangement, page, style
from viz_core.render.venues import VENUES

PINS = tuple(of_word(word) for word in (*MIXED, "extrapolation~scaling-none__linear_3afit"))
TRAY = Tray(PINS, Target("icml", 2, across=3))
SHEETS = [(v.id, c) for v in VENUES.values() for c in v.columns]
TRAYS = {  # pins by what is hard about them
    "one": ["spectra"],
    "a map beside a chart": MIXED[2:],
    "two of each": MIXED,
    "maps on one scale, then charts": [
        f"map~places-alibi.3.2__rope.3.1{OF_SHORT}",
        "stairs",
        "slopes",
    ],
    "a table between": [MIXED[2], f"head-wall{OF_SHORT}", "mechanism", "encoding-parts"],
    "a figure with letters": [f"staircase-ripples{OF_SHORT}", "training-curves"],
    "images without maps": ["encoding-parts~encodings-sinusoidal", "head-curves~layers-1__3"],
}


@pytest.fixture(scope="module")
def plots() -> dict[str, plates.Plot]:
    return {}


@pytest.fixture
def drawn(own_store: None, plots: dict[str, plates.Plot]) -> tray.Draw:
    """Pins, each drawn once for all tests."""

    def draw(pin: Pin, progress: object) -> plates.Plot:
        return plots.setdefault(pin.word(), pin.draw())

    return draw


def test_json_and_address_give_the_tray_back() -> None:
    assert Tray.from_json(TRAY.to_json()) == TRAY
    assert Tray.from_query(TRAY.to_query()) == TRAY
    assert Tray.from_query({}) == Tray()
    assert len(TRAY.to_json()) < 1500


def test_an_address_needs_no_escaping() -> None:
    query = TRAY.to_query()
    assert all(quote(value, safe="") == value for value in query.values())
    assert query["pins"].startswith("map~places-alibi.3.4~text-random~texts-2~length-128~~curves~")


@pytest.mark.parametrize("value", ["a,b", "heldout/x_y", "~-.", "θ = 1", "", "linear:fit", "__,_"])
def test_any_word_is_carried(value: str) -> None:
    pin = Pin("map", {"text": value, "other_heads": value})
    assert of_word(pin.word()) == pin


def test_pins_of_values_leave_defaults_out() -> None:
    pin = Pin.of("map", places=["rope.3.1"], view="log", length=None, texts=8)
    assert dict(pin.options) == {"places": "rope.3.1", "texts": "8"}
    assert pin.read()["places"] == ["rope.3.1"]
    with pytest.raises(UsageError, match="got --colour"):
        Pin.of("map", colour=1)


def test_equal_pins_are_one_key() -> None:
    one, other = (Pin("stairs", {"layer": "3"}) for _ in range(2))
    assert {one: 1}[other] == 1


def content(**change: object) -> str:
    return json.dumps({**json.loads(TRAY.to_json()), **change})


DEEP = '{"program": "Attention Atlas", "tray": 1, "pins": ' + "[" * 30_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "can't be read"),
        ("[]", "the whole is no table"),
        (DEEP, "nested too deeply"),
        ("1" * 70_000, "longer than 65,536 characters"),
        (content(tray=2), "of another program or version"),
        (content(pins={}), "its pins are no list"),
        (content(pins=["map"]), "a pin is no table"),
        (content(pins=[{"figure": "map"}]), "what a pin's figure shows is no table"),
        (content(pins=[{"figure": 3, "options": {}}]), "the figure of a pin is no word"),
        (content(pins=[{"figure": "map", "options": {"texts": 3}}]), "the option texts is no word"),
        (content(pins=[{"figure": "pie", "options": {}}]), "Expected a figure among"),
        (content(pins=[{"figure": "tray", "options": {}}]), "Expected a figure among"),
        (content(pins=[{"figure": "map", "options": {"out": "x"}}]), "got --out"),
        (content(pins=[{"figure": "map", "options": {"texts": "65"}}]), "from 1 to 64; got '65'"),
        (content(pins=[{"figure": "map", "options": {"view": "x"}}]), "invalid choice: 'x'"),
        (content(pins=[{"figure": "map", "options": {"text": "x" * 300}}]), "at most 200"),
        (content(pins=[{"figure": "map", "options": {"places": "/etc/x.1.1"}}]), "got the path"),
        (content(pins=[{"figure": "stairs", "options": {}}] * (MOST + 1)), f"at most {MOST}"),
        (content(target=[]), "what it is drawn for is no table"),
        (content(target={"venue": "nips"}), "Expected a venue among"),
        (content(target={"columns": True}), "columns is no whole number"),
        (content(target={"across": 0}), "Expected 1 to 26 panels in a row"),
        (content(target={"width": "9px"}), "Expected a width from"),
        (content(target={"out": "/tmp"}), "'out' is nothing that it is drawn for"),
    ],
)
def test_wrong_json_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(AtlasError) as error:
        Tray.from_json(text)
    assert said in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 700


def test_no_mutated_copy_raises_anything_else() -> None:
    chance, whole = random.Random(0), TRAY.to_json()
    for _ in range(1500):
        text = list(whole)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(text))
            text[place : place + chance.choice((0, 1, 1, 9))] = chance.choice(
                ("", "0", '"', "{", "[", "null", "-1e400", "\\ud800", "\0", "é", "~", "rope", "__")
            )
        with suppress(AtlasError):
            Tray.from_json("".join(text))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"v": "2"}, "of version 1; got '2'"),
        ({"pins": "map~~"}, "Expected a pinned figure"),
        ({"pins": "map~x"}, "Expected a pinned figure"),
        ({"pins": "pie"}, "Expected a figure among"),
        ({"pins": "map~places-a_2fb.1.1"}, "got the path"),
        ({"pins": "stairs~checkpoints-a_2fb"}, "got the path"),
        ({"pins": "stairs~length-9999999"}, "up to 131,072 tokens here; got 9,999,999"),
        ({"pins": "x" * 70_000}, "at most 65,536 characters"),
        ({"pins": "stairs", "columns": "two"}, "Expected columns to be a whole number"),
        ({"pins": "stairs", "across": "99999"}, "Expected across to be a whole number"),
        ({"pins": "stairs", "venue": "x" * 300}, "the venue is no word of at most"),
    ],
)
def test_wrong_addresses_are_one_sentence(query: dict[str, str], said: str) -> None:
    with pytest.raises(AtlasError) as error:
        Tray.from_query(query)
    assert said in str(error.value)


@pytest.mark.parametrize(("venue", "columns"), SHEETS)
@pytest.mark.parametrize("name", TRAYS)
def test_composed_figures_are_legible_at_every_width(name, venue, columns, drawn) -> None:
    pins = tuple(of_word(word) for word in TRAYS[name])
    spec = tray.compose(Tray(pins), draw=drawn).spec
    sheet = Target(venue, columns).sheet()
    with style.settings(sheet.text):
        figure = page.compose(spec, sheet)
    assert 72 * figure.get_size_inches()[0] == pytest.approx(sheet.width, abs=1e-9)
    assert_legible(figure)


def test_every_letter_of_the_page_is_in_the_caption(drawn) -> None:
    pins = tuple(of_word(word) for word in TRAYS["a figure with letters"])
    spec = tray.compose(Tray(pins), draw=drawn).spec
    sheet = Target("neurips").sheet()
    with style.settings(sheet.text):
        marks = [t.get_text() for t, _ in words(page.compose(spec, sheet))]
    assert [m for m in marks if m.startswith("(") and len(m) == 3] == [f"({c})" for c in "abcdefg"]
    assert "(a) next to the ripples of RoPE (b)" in spec.caption
    assert "(g) Validation loss" in spec.caption and "(g) Validation loss" in spec.alt


def test_a_second_figure_s_own_letters_go_on_after_the_first(drawn) -> None:
    pins = tuple(of_word(word) for word in reversed(TRAYS["a figure with letters"]))
    caption = tray.compose(Tray(pins), draw=drawn).spec.caption
    assert caption.startswith("(a) Validation loss")
    assert "(b) next to the ripples of RoPE (c)" in caption and "(d, e) Log-attention" in caption


def test_a_map_and_a_chart_share_a_row_and_rows_alike_their_columns(drawn) -> None:
    spec = tray.compose(Tray(tuple(of_word(w) for w in MIXED)), draw=drawn).spec
    (band,) = arrangement.arrange(spec.panels, Target("icml").sheet(), spec.parts)
    kinds = [[type(spec.panels[b.panels[0]]) for b in row] for row in band.rows]
    assert kinds == [[Heatmap, Chart], [Heatmap, Chart]]
    with style.settings(7.0):
        figure = page.compose(spec, Target("icml").sheet())
    boxes = {ax.get_label(): ax.get_position() for ax in figure.axes if ax.get_label() != "bar"}
    assert boxes["0"].x0 == pytest.approx(boxes["2"].x0)
    assert boxes["1"].x0 == pytest.approx(boxes["3"].x0)
    assert boxes["0"].y0 == pytest.approx(boxes["1"].y0)
    assert sum(ax.get_label() == "bar" for ax in figure.axes) == 2  # the two scales differ


def test_maps_of_two_figures_on_one_scale_share_their_bar(drawn) -> None:
    pins = (of_word(MIXED[2]), of_word(f"{MIXED[2]}~map_scale-log"))
    spec = tray.compose(Tray(pins), draw=drawn).spec
    with style.settings(7.0):
        figure = page.compose(spec, Target("icml").sheet())
    assert sum(ax.get_label() == "bar" for ax in figure.axes) == 1


@pytest.mark.parametrize("across", [1, 2, 3])
def test_the_grid_is_as_wide_as_is_asked_for(across: int, drawn) -> None:
    spec = tray.compose(Tray((*PINS, Pin("spectra"))), draw=drawn).spec
    sheet = Target("neurips", across=across).sheet()
    rows = [
        row for band in arrangement.arrange(spec.panels, sheet, spec.parts) for row in band.rows
    ]
    assert [len(row) for row in rows[:-1]] == [across] * (len(rows) - 1)
    assert [b.panels[0] for row in rows for b in row] == list(range(len(spec.panels)))


def test_provenance_names_every_source_once_and_facts_by_letter(drawn) -> None:
    one = tray.export(TRAY, "mine", draw=drawn)
    names = [(s.what, s.name) for s in one.provenance.sources]
    assert len(names) == len(set(names)) and ("checkpoint", "alibi") in names
    assert one.provenance.facts["(a) cell"] == 1
    assert one.provenance.options == {"pins": [pin.word() for pin in PINS]}
    assert one.target == TRAY.target
    again = plates.get("tray").export({"pins": one.provenance.options["pins"]}, TRAY.target)
    for name, array in data.arrays(one.spec).items():
        np.testing.assert_array_equal(array, data.arrays(again.spec)[name])
    assert again.provenance == one.provenance


def test_nothing_is_drawn_of_a_tray_that_is_wrong() -> None:
    def never(pin: Pin, progress: object) -> plates.Plot:
        raise AssertionError("drawn")

    with pytest.raises(UnknownName, match="Expected a figure among"):
        tray.compose(Tray((Pin("stairs"), Pin("pie"))), draw=never)
    with pytest.raises(UsageError, match="it is empty"):
        tray.compose(Tray(), draw=never)
