"""Every plate of the folder: legible in every venue, and where it comes from is said in full."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pages._shared import measuring
from tests.render.legible import assert_legible
from viz_core import catalogue, plates, results
from viz_core.arguments import parser
from viz_core.errors import AtlasError, TextError, UnknownName, UsageError
from viz_core.export import embedded
from viz_core.export.target import Target
from viz_core.plates import Plate, Plot, _gathered, _maps, _tables
from viz_core.render.paper import page, style
from viz_core.render.venues import VENUES

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
SHEETS = [(v.id, c) for v in VENUES.values() for c in v.columns]
NAMES = list(plates.all_plates())
READY = {
    *("staircase-ripples", "decay-grid", "head-wall", "extrapolation", "training-curves"),
    *("encoding-atlas", "tray", "emergence"),
}


@pytest.mark.parametrize(("venue", "columns"), SHEETS)
@pytest.mark.parametrize("name", NAMES)
def test_plates_are_legible_at_every_venue_s_width(name, venue, columns, drawn) -> None:
    one = drawn(name, Target(venue, columns))
    sheet = one.target.sheet()
    with style.settings(sheet.text):
        figure = page.compose(one.spec, sheet)
    wide, high = 72 * figure.get_size_inches()
    assert wide == pytest.approx(sheet.width, abs=1e-9)
    assert high < 0.9 * 9 * 72  # a page's text is 9 inches high, and the caption needs some
    assert_legible(figure)


@pytest.mark.parametrize("name", NAMES)
def test_pdfs_of_plates_are_small_with_embedded_fonts(name, drawn, tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(drawn(name, Target("icml")).files("pdf")[f"{name}.pdf"])
    data = path.read_bytes()
    assert len(data) < 1 << 20
    assert b"/FontFile2" in data and b"/Type3" not in data
    assert float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", data)[1]) == pytest.approx(234, abs=0.1)
    if shutil.which("pdffonts"):
        said = subprocess.run(["pdffonts", str(path)], capture_output=True, text=True, check=True)
        fonts = said.stdout.splitlines()[2:]
        assert fonts and all("TrueType" in f and "Type 3" not in f for f in fonts)


@pytest.mark.parametrize("name", NAMES)
def test_plates_say_where_they_come_from(name, drawn, tmp_path: Path) -> None:
    one = drawn(name)
    source = one.provenance
    assert source.figure == name
    assert set(source.options) == set(plates.get(name).options)
    assert source.sources
    assert all(re.fullmatch("[0-9a-f]{64}", s.sha256) for s in source.sources)
    trained = [v for n, v in source.facts.items() if n.rpartition(" ")[2] == "trained_length"]
    assert trained and set(trained) == {512}
    assert re.search("texts|documents|windows", one.spec.caption)
    path = tmp_path / "x.pdf"
    path.write_bytes(one.files("pdf")[f"{name}.pdf"])
    assert embedded.read(path) == source


@pytest.mark.parametrize("name", NAMES)
def test_every_option_of_a_plate_is_one_of_the_command_line_s(name: str, drawn) -> None:
    given = parser().parse_args(["figure", name])
    assert all(getattr(given, option) is None for option in plates.get(name).options)
    source = drawn(name).provenance  # what it says of itself gives the same options back
    read = parser().parse_args(["figure", *source.words()])
    assert {n: getattr(read, n) for n in source.options} == dict(source.options)


def test_options_that_a_plate_has_not_are_refused_before_any_work() -> None:
    def never(options: plates.Options, progress: object) -> Plot:
        raise AssertionError("drawn")

    plate = Plate("one", "One", {"layer": 3, "other_heads": [1]}, never)
    with pytest.raises(UsageError, match=r"among --layer, --other-heads; got --text\."):
        plate.export({"layer": None, "text": "prose"}, Target())
    with pytest.raises(UnknownName, match="Expected a venue"):
        plate.export({}, Target("nips"))
    with pytest.raises(UnknownName, match="Expected a figure among bucket-edges"):
        plates.get("pie-chart")


def test_shipped_portraits_are_used_where_they_are_of_what_is_asked_for() -> None:
    rope = catalogue.find("rope")
    shipped = results.portraits().values()
    found = _gathered.portrait(rope, "heldout", 512, 42, shipped, lambda done: None)
    assert (found.portrait.texts, len(found.texts)) == (42, 42)


def test_other_portraits_and_maps_are_measured_once_and_kept(monkeypatch) -> None:
    rope = catalogue.find("rope")
    some = _gathered.passages("random", 96, 2, rope)
    first = _gathered.portrait(rope, "random", 96, 2, (), lambda done: None)
    maps = _maps.layers(rope, some, "log", lambda done: None, 24)
    assert (maps[0].texts, maps[0].cell, maps[0].value.shape) == (2, 4, (8, 24, 24))
    monkeypatch.setattr(catalogue.Checkpoint, "load", None)  # nothing is computed again
    again = _gathered.portrait(rope, "random", 96, 2, (), lambda done: None)
    np.testing.assert_array_equal(first.portrait.curve, again.portrait.curve)
    for one, other in zip(maps, _maps.layers(rope, some, "log", print, 24), strict=True):
        np.testing.assert_array_equal(one.value, other.value)
        assert (one.rows, one.kind) == (other.rows, other.kind)


def test_one_layer_alone_is_as_in_the_map_of_all() -> None:
    rope = catalogue.find("rope")
    some = _gathered.passages("random", 96, 2, rope)
    every = _maps.layers(rope, some, "log", lambda done: None, 24)
    (alone,) = _maps.layers(rope, some, "log", lambda done: None, 24, layer=2)
    np.testing.assert_array_equal(alone.value, every[2].value)


def test_views_of_one_text_and_row_centred_ones() -> None:
    rope = catalogue.find("rope")
    some = _gathered.passages("random", 96, 2, rope)
    one = _maps.layers(rope, some, "probability", lambda done: None, 96)[0]
    centred = _maps.layers(rope, some, "centred", lambda done: None, 96)[0]
    np.testing.assert_allclose(np.exp(one.value).sum(axis=-1), 1, rtol=1e-3)
    assert (one.texts, centred.texts, centred.kind) == (1, 2, "centred")


def test_what_compare_has_computed_is_taken_as_it_is(monkeypatch) -> None:
    rope = catalogue.find("rope")
    some = _gathered.passages("random", 112, 2, rope)
    window = _maps.whole(rope, some, "log", 1, lambda done: None)
    curve, law = _maps.curve(rope, some, 1, lambda done: None)
    found = measuring.surveyed(rope, some, "log", lambda done: None)
    np.testing.assert_array_equal(window.value, found.windows[1].value)
    np.testing.assert_array_equal(curve.value, found.curves[1].value)
    np.testing.assert_array_equal(law, found.laws[1])
    part = measuring.zoomed(rope, some, "log", (1, 0), (0, 64), (0, 64), "mean", lambda done: None)
    monkeypatch.setattr(catalogue.Checkpoint, "load", None)  # all are found in the store
    again = _maps.zoomed(rope, some, "log", (1, 0), ((0, 64), (0, 64)), lambda done: None)
    np.testing.assert_array_equal(part.value, again.value)
    assert _maps.whole(rope, some, "log", 0, print).value.shape == window.value.shape
    np.testing.assert_array_equal(_maps.curve(rope, some, 1, print)[0].error, curve.error)


def test_too_few_texts_are_no_mean() -> None:
    rope = catalogue.find("rope")
    with pytest.raises(TextError, match="Expected 40 texts of 512 tokens in prose"):
        _gathered.passages("prose", 512, 40, rope)
    with pytest.raises(TextError, match="others can read"):
        _gathered.passages("pasted", 512, 1, rope)


@pytest.mark.parametrize(
    ("name", "given", "error", "message"),
    [
        ("staircase-ripples", {"checkpoints": ["rope", "alibi"]}, UsageError, "first with ALiBi"),
        ("staircase-ripples", {"heads": [1, 9]}, UsageError, "heads up to 8 of alibi"),
        ("staircase-ripples", {"layer": 5}, UsageError, "Expected a layer up to 4"),
        ("head-wall", {"checkpoints": ["rope", "t5"]}, UsageError, "Expected one of --checkpoints"),
        ("decay-grid", {"layers": [1, 7]}, UsageError, "Expected --layers up to 4"),
        ("decay-grid", {"checkpoints": ["gpt"]}, UnknownName, "Expected a checkpoint among"),
        ("extrapolation", {"text": "prose"}, AtlasError, "there are none. Run `make results`"),
        ("position-loss", {"measure": "difference"}, UsageError, "perplexity or loss by position"),
        ("mechanism", {"scaling": ["ntk:4"]}, UsageError, "Expected none among --scaling"),
        ("mechanism", {"text": "prose"}, AtlasError, "Expected rows of alibi, rope"),
        ("map", {"places": ["rope"]}, UsageError, "Expected --places as checkpoint.layer.head"),
        ("map", {"places": ["rope.3.9"]}, UsageError, "got layer 3, head 9"),
        ("map", {"queries": ["0:64"]}, UsageError, "Expected --queries with --keys"),
        ("map", {"scaling": ["none"] * 3}, UsageError, "Expected --scaling once, or once for"),
        ("curves", {"heads": [9]}, UsageError, "heads up to 8"),
        ("difference", {"scaling": ["none"]}, UsageError, "Expected one setting other than none"),
        ("difference", {"heads": [1, 2]}, UsageError, "Expected one of --heads here; got 2"),
        ("slopes", {"checkpoints": ["rope"]}, UsageError, "whose encoding sets slopes"),
        ("slopes", {"checkpoints": ["alibi"] * 2}, UsageError, "Expected one of --checkpoints"),
        ("frequency-use", {"checkpoints": ["t5"]}, UsageError, "Expected --checkpoints with RoPE"),
        ("stairs", {"layer": 5}, UsageError, "Expected a layer up to 4"),
        ("spectra", {"scaling": ["yarn:4", "none"]}, UsageError, "a checkpoint with RoPE"),
        ("head-curves", {"sink": "in", "estimator": "mean-logit"}, UsageError, "--sink in with"),
        ("encoding-maps", {"encodings": ["learned"]}, UsageError, "Expected --encodings with a"),
        ("encoding-maps", {"encodings": ["rope:colour=1"]}, UnknownName, "a parameter of rope"),
        ("encoding-maps", {"encodings": ["rope:theta=x"]}, UsageError, "Expected theta between"),
        ("encoding-maps", {"heads": [9]}, UsageError, "Expected --heads up to 8"),
        ("encoding-maps", {"length": 20_000}, UsageError, "Expected --length up to 16,384"),
        ("encoding-parts", {"encodings": ["nope"]}, UsageError, "with a formula of its own"),
        ("encoding-parts", {"encodings": ["t5", "rope"]}, UsageError, "Expected one of --enc"),
        ("tray", {"pins": []}, UsageError, "Expected figures in the tray; it is empty"),
        ("tray", {"pins": ["tray"]}, UnknownName, "Expected a figure among"),
        ("tray", {"pins": ["map!"]}, UsageError, "Expected a pinned figure such as"),
    ],
)
def test_what_cannot_be_drawn_is_said(name, given, error, message) -> None:
    with pytest.raises(error, match=message):
        plates.get(name).export(given, Target())


def test_settings_of_rope_have_a_colour_and_a_dash_each() -> None:
    given = {"checkpoints": ["rope"], "scaling": ["none", "linear:fit", "linear:4", "linear:2"]}
    (panel,) = plates.get("extrapolation").export(given, Target()).spec.panels
    named = {line.label: (line.accent, line.dash) for line in panel.lines if line.label}
    assert named == {
        "RoPE": ("rope", "solid"),
        "PI s = N / L": ("linear", "solid"),
        "PI s = 2": ("linear", "dash"),
        "PI s = 4": ("linear", "dot"),
    }


def test_examples_are_of_plates_options_and_have_names_of_their_own() -> None:
    every = [(p, n, o) for p in plates.all_plates().values() for n, o in p.examples.items()]
    assert all(set(options) <= set(plate.options) for plate, _, options in every)
    assert max(Counter(name for _, name, _ in every).values()) == 1
    assert {plate.id for plate, _, _ in every} == READY


def test_bytes_are_equal_for_equal_figures(drawn) -> None:
    first, again = (drawn("training-curves").files("zip") for _ in range(2))
    assert first == again


@pytest.mark.parametrize("path", sorted(GALLERY.glob("*.pdf")), ids=lambda path: path.stem)
def test_the_gallery_is_of_what_is_shipped(path: Path) -> None:
    source = embedded.read(path)
    hashes = {c.id: c.sha256 for c in catalogue.shipped().values()}
    hashes |= {t.name: t.sha256 for t in _tables.of_tables("perplexity")}
    for one in source.sources:
        if one.name in hashes:
            assert one.sha256 == hashes[one.name], f"{one.name} is another: run `make gallery`"
    assert f"({path.name})" in (GALLERY / "README.md").read_text()


@pytest.mark.parametrize("words", ["0", "64:64", "9:1", "1:2,a", "1" * 20 + ":2"])
def test_ranges_that_are_none_are_refused(words: str) -> None:
    with pytest.raises(UsageError, match="Argument --queries: expected a range"):
        plates.get("map").read({"queries": words, "keys": "0:64"})


def test_a_part_of_a_map_is_drawn_as_fine_as_it_allows() -> None:
    given = {"places": ["rope.3.1"], "queries": ["64:96"], "keys": ["0:32"]}
    short = {"text": "random", "texts": 2, "length": 128}
    (panel,) = plates.get("map").export({**given, **short}, Target()).spec.panels
    assert (panel.rows, panel.columns, panel.cell) == ((64, 96), (0, 32), 1)


def test_of_a_layer_s_curves_the_chosen_heads_are_drawn_and_laws_where_they_are_wanted() -> None:
    given = {"places": ["alibi.3.2"], "heads": [4, 8], "laws": "no", "text": "random"}
    export = plates.get("curves").export({**given, "texts": 2, "length": 128}, Target())
    (panel,) = export.spec.panels
    assert [line.name for line in panel.lines] == ["head 4", "head 8", "head 2"]
    assert "Dashed" not in export.spec.caption


def test_heads_in_several_layers_form_a_table_and_in_one_stand_alone() -> None:
    plate = plates.get("head-curves")
    several = plate.export({"layers": [1, 3], "heads": [2, 5]}, Target()).spec
    assert [p.title for p in several.panels][:2] == ["layer 1, head 2", "layer 1, head 5"]
    (one,) = plate.export({"heads": [5]}, Target()).spec.panels
    assert one.title == "L3 H5"
    assert {line.label for line in one.lines} == {"ALiBi", "RoPE", ""}


def test_estimators_of_curves_are_other_numbers_of_the_same_heads() -> None:
    plate = plates.get("head-curves")
    found = [
        plate.export({"heads": [5], "estimator": name}, Target())
        for name in ("row-fixed-effects", "mean-logit", "mean-probability")
    ]
    assert len({one.provenance.data for one in found}) == 3
    assert found[2].provenance.facts["estimator"].endswith("(biased)")


@pytest.mark.parametrize("encoding", ["alibi", "t5", "rope:scaling=yarn:factor=4", "sinusoidal"])
def test_each_encoding_has_a_picture_of_its_parts(encoding: str) -> None:
    one = plates.get("encoding-parts").export({"encodings": [encoding]}, Target("icml"))
    with style.settings(one.target.sheet().text):
        assert_legible(page.compose(one.spec, one.target.sheet()))
