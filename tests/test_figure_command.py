"""`figure`: what it writes, what it refuses, and a figure drawn again from its own file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from viz_core import plates
from viz_core.export import embedded
from viz_core.export.target import Target
from viz_core.plates.tray import Pin, Tray

Cli = Callable[..., tuple[int, str, str]]
TRAINING = ("figure", "training-curves")


def test_without_a_name_it_says_what_there_is(cli: Cli) -> None:
    status, said, _ = cli("figure")
    assert status == 0
    for plate in plates.all_plates().values():
        assert f"{plate.id}: {plate.title}" in said
    assert "--other-heads    1,6,8" in said
    assert "--length         the trained length" in said and "--queries        all" in said


def test_it_writes_the_figure_and_a_json_beside_it(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "curves.pdf"
    status, said, errors = cli(*TRAINING, "--venue", "acl", "--out", out)
    assert (status, errors) == (0, "")
    assert said.split() == [str(out), str(out.with_suffix(".json"))]
    beside = json.loads(out.with_suffix(".json").read_text())
    drawn_for = {"columns": None, "width": None, "across": None, "language": "en"}
    assert beside["target"] == {"venue": "acl", **drawn_for}
    assert embedded.read(out) == embedded.read(out.with_suffix(".json"))


def test_options_reach_the_figure(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "loss.csv"
    words = ("--checkpoints", "rope,alibi", "--measure", "loss", "--json", "--out", out)
    status, said, _ = cli("figure", "extrapolation", *words)
    assert status == 0
    about = json.loads(said)
    assert about["options"]["checkpoints"] == ["rope", "alibi"]
    assert about["files"][0] == str(out)
    rows = out.read_text().splitlines()
    assert rows[0] == f"# {about['command']}"
    assert any("RoPE,512.0,3.74" in row for row in rows)


@pytest.mark.parametrize("kind", ["pdf", "svg", "png", "pgf", "html", "csv", "npz", "zip", "json"])
def test_a_figure_is_drawn_again_from_its_own_file_byte_for_byte(
    cli: Cli, tmp_path: Path, kind: str
) -> None:
    first = tmp_path / ("a.npz" if kind == "json" else f"a.{kind}")
    words = ("--checkpoints", "rope,alibi", "--venue", "icml", "--columns", 2, "--out", first)
    assert cli(*TRAINING, *words)[0] == 0
    source = first.with_suffix(".json") if kind == "json" else first
    status, _, errors = cli("figure", "--from", source, "--out", tmp_path / "again" / "a.npz")
    assert status == 2 and "a folder that exists" in errors
    (tmp_path / "again").mkdir()
    for name in (first.name, "data.npz", "whole.pdf"):
        assert cli("figure", "--from", source, "--out", tmp_path / "again" / name)[0] == 0
    assert (tmp_path / "again" / first.name).read_bytes() == first.read_bytes()
    cli(*TRAINING, *words[:-1], tmp_path / "whole.pdf")
    assert (tmp_path / "again" / "whole.pdf").read_bytes() == (tmp_path / "whole.pdf").read_bytes()
    assert embedded.read(tmp_path / "again" / "data.npz") == embedded.read(source)


def test_options_given_now_stand_before_those_of_the_file(cli: Cli, tmp_path: Path) -> None:
    first, other = tmp_path / "a.pdf", tmp_path / "b.pdf"
    cli(*TRAINING, "--venue", "icml", "--out", first)
    assert cli("figure", "--from", first, "--venue", "acl", "--out", other)[0] == 0
    now, before = embedded.read(other), embedded.read(first)
    assert (now.data, now.target["venue"]) == (before.data, "acl")


TRAY = Tray((Pin.of("stairs", checkpoints=["alibi"]), Pin.of("encoding-parts")), Target("icml"))


def test_a_figure_is_drawn_again_in_its_language(cli: Cli, tmp_path: Path) -> None:
    first, again, english = (tmp_path / f"{name}.csv" for name in "abe")
    assert cli(*TRAINING, "--language", "zh", "--out", first)[0] == 0
    assert embedded.read(first).target["language"] == "zh"
    assert "训练过程中的验证损失" in first.read_text()
    assert cli("figure", "--from", first, "--out", again)[0] == 0
    assert again.read_bytes() == first.read_bytes()
    assert cli("figure", "--from", first, "--language", "en", "--out", english)[0] == 0
    assert "Validation loss while training" in english.read_text()


def test_a_file_without_a_language_is_english(cli: Cli, tmp_path: Path) -> None:
    first, older, again = tmp_path / "a.json", tmp_path / "older.json", tmp_path / "b.csv"
    assert cli(*TRAINING, "--out", first.with_suffix(".csv"))[0] == 0
    about = json.loads(first.read_text())
    del about["target"]["language"]
    older.write_text(json.dumps(about))
    assert cli("figure", "--from", older, "--out", again)[0] == 0
    assert embedded.read(again).target["language"] == "en"
    assert "--language" not in embedded.read(again).command


def test_another_language_is_refused_in_a_sentence(cli: Cli, tmp_path: Path) -> None:
    status, _, errors = cli(*TRAINING, "--language", "tlh", "--out", tmp_path / "a.csv")
    assert status == 2 and "Expected a language among en, zh; got 'tlh'." in errors


def test_a_tray_is_one_figure_that_is_drawn_again_from_its_file(cli: Cli, tmp_path: Path) -> None:
    pinned, first, again = (tmp_path / name for name in ("tray.json", "a.pdf", "b.pdf"))
    pinned.write_text(TRAY.to_json())
    status, said, errors = cli("figure", "--tray", pinned, "--out", first)
    assert (status, errors) == (0, "") and str(first) in said
    assert cli("figure", "--from", first, "--out", again)[0] == 0
    assert again.read_bytes() == first.read_bytes()
    before = embedded.read(first)
    assert before.figure == "tray" and before.target["venue"] == "icml"
    pins = "'--pins=stairs~checkpoints-alibi,encoding-parts'"
    assert before.command == f"python -m viz_core figure tray {pins} --venue=icml"


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (("--venue", "acl"), {"venue": "acl", "columns": None, "width": None, "across": 2}),
        (("--columns", 1), {"venue": "icml", "columns": 1, "width": None, "across": 2}),
        (("--width", "88mm"), {"venue": "neurips", "columns": None, "width": "88mm", "across": 2}),
        (("--across", 1), {"venue": "icml", "columns": 2, "width": None, "across": 1}),
        (("--language", "zh"), {"venue": "icml", "columns": 2, "across": 2, "language": "zh"}),
    ],
)
def test_what_a_tray_is_drawn_for_may_be_given_now(cli: Cli, tmp_path, words, target) -> None:
    pinned, out = tmp_path / "tray.json", tmp_path / "a.csv"
    pinned.write_text(replace(TRAY, target=Target("icml", 2, across=2)).to_json())
    assert cli("figure", "--tray", pinned, *words, "--out", out)[0] == 0
    assert embedded.read(out).target == {"width": None, "language": "en", **target}


def test_a_tray_that_is_none_is_a_sentence(cli: Cli, tmp_path: Path) -> None:
    pinned, out = tmp_path / "tray.json", tmp_path / "a.pdf"
    for text, said in (("{}", "of another program"), (TRAY.to_json()[:-9], "can't be read")):
        pinned.write_text(text)
        status, _, errors = cli("figure", "--tray", pinned, "--out", out)
        assert status == 1 and said in errors and errors.count("\n") == 1
    status, _, errors = cli("figure", "stairs", "--tray", pinned, "--out", out)
    assert status == 2 and "Expected --tray tray.json alone; got stairs too" in errors
    status, _, errors = cli("figure", "--tray", tmp_path / "no.json", "--out", out)
    assert status == 2 and "Expected a text file at" in errors


def written(path: Path, **change: object) -> Path:
    """A sidecar of training curves of RoPE with something else in it."""
    plate = plates.get("training-curves")
    source = plate.export({"checkpoints": ["rope"]}, Target()).provenance
    content = json.loads(source.json()) | change
    path.write_text(json.dumps(content))
    return path


def test_another_checkpoint_than_the_file_s_is_no_redrawing(cli: Cli, tmp_path: Path) -> None:
    sources = [{"what": "checkpoint", "name": "rope", "sha256": "0" * 64}]
    path = written(tmp_path / "a.json", sources=sources)
    status, _, errors = cli("figure", "--from", path, "--out", tmp_path / "b.pdf")
    assert status == 1
    assert "Expected the checkpoint rope that a.json was drawn from (sha256 000000000000)" in errors
    assert not (tmp_path / "b.pdf").exists()


def test_numbers_that_differ_are_said(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", data="0" * 64)
    status, _, errors = cli("figure", "--from", path, "--out", tmp_path / "b.pdf")
    assert status == 0
    assert "note: The numbers differ from those of a.json" in errors


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"figure": "--help"}, "Expected a figure among"),
        ({"figure": "../../etc"}, "Expected a figure among"),
        ({"options": {"out": "/tmp/x.pdf"}}, "Expected options of training-curves in a.json"),
        ({"options": {"checkpoints": ["rope"], "from": "b"}}, "got 'from'"),
        ({"target": {"gallery": "/tmp"}}, "got 'gallery'"),
        ({"target": {"columns": 7}}, "expected a whole number from 1 to 2"),
        ({"target": {"venue": "nips"}}, "Expected a venue among"),
        ({"options": {"checkpoints": ["/etc/passwd"]}}, "Expected"),
    ],
)
def test_nothing_in_a_file_reaches_more_than_a_figure_s_own_options(
    cli: Cli, tmp_path: Path, change: dict, said: str
) -> None:
    path = written(tmp_path / "a.json", **change)
    status, out, errors = cli("figure", "--from", path, "--out", tmp_path / "b.pdf")
    assert status in (1, 2)
    assert said in errors and errors.count("\n") == 1 and out == ""
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("training-curves",), "Expected --out F.pdf"),
        (("training-curves", "--out", "F.docx"), "Expected --out to end in one of .pdf, .svg"),
        (("training-curves", "--out", "F.pdf", "--grey"), "Expected --out F.png with --grey"),
        (("training-curves", "--out", "F.pdf", "--layer", "3"), "among --checkpoints; got --layer"),
        (("pie", "--out", "F.pdf"), "Expected a figure among"),
        (("decay-grid", "--from", "F.pdf", "--out", "G.pdf"), "can't be read"),
        (("training-curves", "--venue", "x", "--out", "F.pdf"), "Expected a venue among neurips"),
        (("training-curves", "--width", "9px", "--out", "F.pdf"), "Expected a width from"),
    ],
)
def test_wrong_usage_is_a_sentence(cli: Cli, tmp_path: Path, monkeypatch, words, said) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, errors = cli("figure", *words)
    assert status in (1, 2)
    assert said in errors
    assert not list(tmp_path.iterdir())


def test_a_name_and_a_file_are_one_too_many(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path / "a.json")
    words = ("decay-grid", "--from", path, "--out", tmp_path / "b.pdf")
    status, _, errors = cli("figure", *words)
    assert status == 2 and "Expected a NAME or --from a.json, not both; got decay-grid" in errors


def test_grey_dots_and_own_widths(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "grey.png"
    words = ("--width", "100mm", "--dpi", 254, "--grey", "--out", out)
    assert cli(*TRAINING, *words)[0] == 0
    with Image.open(out) as image:
        assert (image.mode, image.size[0]) == ("L", 1000)
    assert embedded.read(out.with_suffix(".json")).target["width"] == "100mm"


def test_a_bundle_has_no_json_beside_it(cli: Cli, tmp_path: Path) -> None:
    assert cli(*TRAINING, "--out", tmp_path / "a.zip")[1].split() == [str(tmp_path / "a.zip")]
    with zipfile.ZipFile(tmp_path / "a.zip") as bundle:
        assert bundle.testzip() is None
        assert "a.pdf" in bundle.namelist()


def test_the_gallery_is_every_example_and_a_page_that_shows_them(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {name: plates.get(name) for name in ("training-curves", "extrapolation")}
    monkeypatch.setattr(plates, "all_plates", lambda: few)
    folder = tmp_path / "new" / "gallery"
    status, said, _ = cli("figure", "--gallery", folder)
    assert (status, said.strip()) == (0, str(folder / "README.md"))
    page = (folder / "README.md").read_text()
    for name in ("training-curves", "extrapolation", "extrapolation-rope"):
        assert f"({name}.pdf)" in page and (folder / f"{name}.pdf").is_file()
        with Image.open(folder / f"{name}.png") as image:
            assert image.size[0] == 1100
