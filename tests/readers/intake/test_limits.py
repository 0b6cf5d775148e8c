"""The file of limits: each explained, another in its place, and what is said of a wrong one."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest

from tests.readers.intake.said import refused
from viz_core.errors import UsageError
from viz_core.readers.intake import limits
from viz_core.readers.intake.limits import Limits

DEFAULT = limits._DEFAULT


def written(folder: Path, text: str) -> Path:
    (folder / "limits.toml").write_text(text)
    return folder / "limits.toml"


def test_each_limit_is_there_and_explained() -> None:
    lines = DEFAULT.read_text().splitlines()
    names = [found[1] for line in lines if (found := re.match(r"(\w+) = ", line))]
    assert sorted(names) == sorted(field.name for field in fields(Limits))
    for before, line in pairwise(lines):
        assert not re.match(r"\w+ = ", line) or before.startswith("# ")


def test_nothing_of_the_server_is_open_by_default() -> None:
    read = Limits.read(DEFAULT)
    assert read.folders == () and read.hub is False
    assert read.largest_upload <= read.quota <= read.total_quota


def test_another_file_changes_what_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'hub = true\n[upload]\nfiles = 3\nlargest_file = "5 KiB"\n[server]\nfolders = ["/a"]'
    monkeypatch.setenv("ATLAS_LIMITS", str(written(tmp_path, text)))
    read = Limits.read()
    assert (read.files, read.largest_file, read.hub) == (3, 5_120, True)
    assert read.folders == (Path("/a"),)
    assert read.tensors == Limits.read(DEFAULT).tensors


def test_home_is_the_servers(tmp_path: Path) -> None:
    read = Limits.read(written(tmp_path, 'folders = ["~/models"]'))
    assert read.folders == (Path.home() / "models",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("file = 3", "got 'file'"),
        ("files = 0", "'0'"),
        ("files = true", "'True'"),
        ("files = 2.5", "'2.5'"),
        ("files = -1", "'-1'"),
        ('files = "many"', "'many'"),
        ('memory = "2 GB"', "'2 GB'"),
        ('memory = "9999999999 TiB"', "a size as '2 GiB'"),
        ("files = 99999999999999999999", "a whole number above 0"),
        ('hub = "yes"', "true or false"),
        ("folders = 3", "absolute paths"),
        ('folders = ["models"]', "absolute paths"),
        ("folders = [3]", "absolute paths"),
        ("files = ", "Expected TOML"),
        ("\x00\x01", "Expected TOML"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    message = refused(lambda: Limits.read(path))
    assert said in message and "limits.toml" in message
    with pytest.raises(UsageError):
        Limits.read(path)


def test_a_file_that_is_no_text_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_bytes(b"\xff\xfe")
    assert "Expected TOML" in refused(lambda: Limits.read(tmp_path / "limits.toml"))
    assert "No such file" in refused(lambda: Limits.read(tmp_path / "none.toml"))
    assert "can't be read" in refused(lambda: Limits.read(tmp_path))


def test_a_default_that_lacks_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = re.sub(r"\nratio = .*", "", DEFAULT.read_text())
    monkeypatch.setattr(limits, "_DEFAULT", written(tmp_path, text))
    assert "'ratio'" in refused(Limits.read)
