"""Files by path, and the places of the server that a visitor may name."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.readers.intake.files import good_folder
from tests.readers.intake.said import LIMITS, refused
from viz_core.readers.intake.folders import files, within


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "open").mkdir()
    return good_folder(tmp_path / "open" / "model")


def test_of_a_folder_the_files_of_a_checkpoint(model: Path) -> None:
    (model / "onnx").mkdir()
    (model / "all.zip").touch()
    taken, left_out = files(model, LIMITS)
    assert taken == {
        name: model / name for name in ["config.json", "model.safetensors", "tokenizer.json"]
    }
    assert left_out == ["README.md", "all.zip", "onnx"]
    assert files(model / "all.zip", LIMITS) == ({"all.zip": model / "all.zip"}, [])
    assert files(model / "README.md", LIMITS) == ({}, ["README.md"])


def test_links_are_followed_as_in_the_hubs_cache(model: Path, tmp_path: Path) -> None:
    (tmp_path / "link.safetensors").symlink_to(model / "model.safetensors")
    assert files(tmp_path / "link.safetensors", LIMITS)[0]


def test_what_is_no_file(model: Path, tmp_path: Path) -> None:
    assert "no such file" in refused(lambda: files(tmp_path / "none.pt", LIMITS))
    (tmp_path / "gone.pt").symlink_to(tmp_path / "nothing")
    assert "no such file" in refused(lambda: files(tmp_path / "gone.pt", LIMITS))
    os.mkfifo(model / "pipe.pt")  # which would wait for ever
    assert "a folder or a device" in refused(lambda: files(model, LIMITS))


def test_a_folder_of_too_many(model: Path) -> None:
    assert "at most 2" in refused(lambda: files(model, replace(LIMITS, files=2)))


def test_a_visitor_names_what_lies_in_an_open_folder(model: Path, tmp_path: Path) -> None:
    limits = replace(LIMITS, folders=(tmp_path / "open",))
    assert within(str(model), limits) == model.resolve()
    assert within(str(model / "model.safetensors"), limits)
    assert within(f"{model}/../model", limits) == model.resolve()


def test_and_nothing_else(model: Path, tmp_path: Path) -> None:
    limits = replace(LIMITS, folders=(tmp_path / "open",))
    (tmp_path / "openly").mkdir()
    (tmp_path / "open" / "out").symlink_to(tmp_path)
    secret = tmp_path / "secret.pt"
    secret.touch()
    asked = [
        str(secret),
        str(tmp_path / "none.pt"),
        str(tmp_path / "openly"),
        f"{tmp_path}/open/../secret.pt",
        f"{tmp_path}/open/out/secret.pt",
        f"{tmp_path}/open/none.pt",
        "/etc/passwd",
        "",
        "a\x00b",
        "x" * 10_000,
    ]
    said = {refused(lambda text=text: within(text, limits)).split("got ")[0] for text in asked}
    assert len(said) == 1  # whether there is anything or not
    refused(lambda: within(str(model), LIMITS))  # no folder is open by default
    (model / "vocab.txt").symlink_to(secret)
    refused(lambda: within(str(model), limits))
