"""Zips: flat, counted, and nothing left of a bad one."""

from __future__ import annotations

import json
import os
import stat
import struct
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.readers.intake.files import zipped
from tests.readers.intake.said import LIMITS, refused
from viz_core import devices
from viz_core.readers.intake.archives import extract

FILES = {"config.json": b"{}", "model.safetensors": bytes(range(256)) * 40}


def unpacked(path: Path, into: Path, **limits: Any) -> dict[str, bytes]:
    extract(path, into, replace(LIMITS, **limits))
    return {file.name: file.read_bytes() for file in into.iterdir()}


def bad(path: Path, **limits: Any) -> str:
    """What is said of it, once nothing is left beside it."""
    before = sorted(path.parent.rglob("*"))
    message = refused(lambda: extract(path, path.parent / "into", replace(LIMITS, **limits)))
    assert sorted(path.parent.rglob("*")) == before
    return message


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("folder", ["", "m/", "./m/"])
def test_the_files_of_a_checkpoint_come_out(tmp_path: Path, method: int, folder: str) -> None:
    others = {"README.md": b"x", f"{folder}modeling.py": b"x", f"{folder}onnx/model.bin": b"x"}
    files = {folder + name: content for name, content in FILES.items()}
    path = zipped(tmp_path / "m.zip", {**files, **others}, method)
    done: list[float] = []
    into = tmp_path / "into"
    assert extract(path, into, LIMITS, done.append) == list(others)
    assert {file.name: file.read_bytes() for file in into.iterdir()} == FILES
    assert done == sorted(done) and done[-1] == 1.0
    assert stat.S_IMODE(into.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in into.iterdir()} == {0o600}


@pytest.mark.parametrize(
    "name",
    ["../model.pt", "a/../../model.pt", "/etc/model.pt", "C:/model.pt", "..\\model.pt", "a\x01/b"],
)
def test_a_name_that_leads_out_stops_all(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "m.zip", {**FILES, name: b"evil"})
    assert "lead elsewhere" in bad(path)


def test_a_name_cut_off_by_a_zero_byte_stops_all(tmp_path: Path) -> None:
    """zipfile reads "model.pt" where the archive has "model.pt\\0/../x"."""
    path = zipped(tmp_path / "m.zip", {"model.ptX/../x": b"evil"})
    path.write_bytes(path.read_bytes().replace(b"model.ptX", b"model.pt\x00"))
    assert "lead elsewhere" in bad(path)


def special(folder: Path, mode: int, content: bytes = b"/etc/passwd") -> Path:
    info = zipfile.ZipInfo("model.safetensors")
    info.create_system, info.external_attr = 3, mode << 16
    with zipfile.ZipFile(folder / "m.zip", "w") as archive:
        archive.writestr(info, content)
    return folder / "m.zip"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices(tmp_path: Path, kind: int) -> None:
    assert "is a link or a device" in bad(special(tmp_path, kind | 0o777))


def test_modes_of_the_archive_are_not_taken_on(tmp_path: Path) -> None:
    unpacked(special(tmp_path, stat.S_IFREG | 0o6777), tmp_path / "into")
    assert stat.S_IMODE((tmp_path / "into" / "model.safetensors").stat().st_mode) == 0o600


def test_encrypted_and_oddly_packed(tmp_path: Path) -> None:
    path = zipped(tmp_path / "m.zip", FILES)
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(whole)
    assert "is encrypted" in bad(path)
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):  # whose readers unpack without bounds
        assert "is packed by method" in bad(zipped(path, FILES, method))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        archive.writestr("config.json", b"{}")
        archive.writestr("config.json", b"{} ")
    assert "twice" in bad(tmp_path / "m.zip")
    assert "twice" in bad(zipped(tmp_path / "m.zip", {"a.pt": b"1", "A.pt": b"2"}))


def test_a_bomb(tmp_path: Path) -> None:
    path = zipped(tmp_path / "m.zip", {"model.safetensors": bytes(1 << 26)})
    assert path.stat().st_size < 1 << 17
    before = devices.peak_bytes(torch.device("cpu"))
    assert "100 times" in bad(path)
    assert devices.peak_bytes(torch.device("cpu")) - before < 1 << 25


def test_a_bomb_that_lies_about_its_size(tmp_path: Path) -> None:
    path = zipped(tmp_path / "m.zip", {"model.safetensors": bytes(1 << 24)})
    data = path.read_bytes().replace(struct.pack("<I", 1 << 24), struct.pack("<I", 100))
    path.write_bytes(data)
    bad(path)


def test_bombs_in_bombs_are_never_opened(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"model.safetensors": bytes(1 << 24)}).read_bytes()
    (tmp_path / "inner.zip").unlink()
    path = zipped(tmp_path / "m.zip", {**FILES, **{f"{n}.zip": inner for n in range(50)}})
    assert unpacked(path, tmp_path / "into") == FILES


def test_entries_that_share_their_bytes(tmp_path: Path) -> None:
    """Each entry of the list points to one and the same deflated block (Fifield 2019)."""
    path = zipped(tmp_path / "m.zip", {"a.pt": os.urandom(5_000)})
    whole = path.read_bytes()
    start, end = whole.index(b"PK\x01\x02"), whole.index(b"PK\x05\x06")
    one = whole[start:end]
    listed = b"".join(one.replace(b"a.pt", b"%c.pt" % (97 + n)) for n in range(20))
    last = bytearray(whole[end:])
    last[8:16] = struct.pack("<HHI", 20, 20, len(listed))
    path.write_bytes(whole[:start] + listed + bytes(last))
    assert "more than the file" in bad(path)


def test_a_list_of_a_million_entries_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "m.zip"
    entry = b"PK\x01\x02" + bytes(42)
    listed = entry * 1_000_000
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, len(listed), 0, 0)
    path.write_bytes(listed + tail)
    before = devices.peak_bytes(torch.device("cpu"))
    assert "broken" in bad(path)
    assert devices.peak_bytes(torch.device("cpu")) - before < 1 << 26


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"entries": 1}, "'entries'"),
        ({"files": 1}, "'files'"),
        ({"largest_file": 1_000}, "'largest_file'"),
        ({"largest_upload": 5_000}, "'largest_upload'"),
        ({"ratio": 1}, "'ratio'"),
    ],
)
def test_limits_hold(tmp_path: Path, limits: dict[str, int], said: str) -> None:
    path = zipped(tmp_path / "m.zip", FILES)
    assert said in bad(path, **limits)
    assert unpacked(path, tmp_path / "into") == FILES


@pytest.mark.parametrize("part", [0, 1, 22, 100, -1, -30])
def test_a_truncated_archive(tmp_path: Path, part: int) -> None:
    path = zipped(tmp_path / "m.zip", FILES)
    path.write_bytes(path.read_bytes()[:part])
    assert "can't be read" in bad(path)


def test_a_wrong_checksum(tmp_path: Path) -> None:
    path = zipped(tmp_path / "m.zip", FILES, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"\x07\x08\x09", b"\x07\x08\x08", 1))
    assert "broken" in bad(path)


def test_what_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "m.zip"
    path.write_text(json.dumps({"not": "a zip"}))
    assert "can't be read" in bad(path)


def test_a_cancelled_extraction_leaves_nothing(tmp_path: Path) -> None:
    class Cancelled(Exception):
        pass

    def cancel(done: float) -> None:
        raise Cancelled

    path = zipped(tmp_path / "m.zip", FILES)
    with pytest.raises(Cancelled):
        extract(path, tmp_path / "into", LIMITS, cancel)
    assert os.listdir(tmp_path) == ["m.zip"]
