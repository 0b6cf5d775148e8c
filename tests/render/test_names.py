"""What a figure prints of a checkpoint's name: the name, whatever signs and letters are in it."""

from __future__ import annotations

import html
import re
import shutil
import warnings
import zipfile
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.pages import checkpoint_files
from viz_core.errors import AtlasError
from viz_core.render.paper import letters


@pytest.mark.parametrize(
    "name", ["cost $5 a$b", "a&b#c{d}~^", "my_run_50%", "<b>x</b>", "模型_注意力"]
)
def test_a_name_stands_in_the_figure_as_it_is(tmp_path: Path, cli: Cli, name: str) -> None:
    if not name.isascii():
        try:
            letters.faces("zh")
        except AtlasError:
            pytest.skip("needs a font with Chinese letters")
    file = checkpoint_files.native_file(tmp_path / "model.safetensors")
    folder = tmp_path / name.replace("/", "∕")
    folder.mkdir()
    shutil.move(file, folder / "model.safetensors")
    out = tmp_path / "o.svg"
    places = f"--places={folder}/model.safetensors.1.1"
    options = ("--text=random", "--texts=1", "--length=64", "--out", out)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a letter without a glyph is a warning
        status, _, err = cli("figure", "map", places, *options)
    assert status == 0, err
    text = html.unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", out.read_text())))
    assert folder.name.replace(" ", "") in text.replace(" ", "").replace("\n", "")


@pytest.mark.parametrize(("name", "asked"), [("模型_注意力", True), ("my_run", False)])
def test_what_a_name_needs_of_a_document_is_said(
    tmp_path: Path, cli: Cli, name: str, asked: bool
) -> None:
    if asked:
        try:
            letters.faces("zh")
        except AtlasError:
            pytest.skip("needs a font with Chinese letters")
    (tmp_path / name).mkdir()
    file = checkpoint_files.native_file(tmp_path / name / "model.safetensors")
    options = (f"--places={file}.1.1", "--text=random", "--texts=1", "--length=64")
    status, _, err = cli("figure", "map", *options, "--out", tmp_path / "o.pgf.zip")
    assert status == 0, err
    with zipfile.ZipFile(tmp_path / "o.pgf.zip") as bundle:
        (source,) = (n for n in bundle.namelist() if n.endswith(".pgf"))
        assert ("ctex" in bundle.read(source).decode()) == asked


def test_a_name_without_a_face_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letters, "_first", lambda families: None)
    monkeypatch.setattr(letters, "_look_again", lambda: None)
    letters.faces.cache_clear()
    try:
        assert letters.beside("my_run") == ()
        with pytest.raises(AtlasError, match="for a name in this figure"):
            letters.beside("模型")
    finally:
        letters.faces.cache_clear()
