"""Headers of safetensors files: right ones read, and each way found for one to be wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.readers.intake.files import entry, good_safetensors, safetensors
from tests.readers.intake.said import LIMITS, refused
from viz_core import devices
from viz_core.readers.intake import headers
from viz_core.readers.intake.headers import Tensor


def test_a_good_file_as_the_library_reads_it(tmp_path: Path) -> None:
    path = good_safetensors(tmp_path / "m.safetensors", {"format": "pt"})
    read = headers.read(path, LIMITS)
    loaded, data = load_file(path), path.read_bytes()
    assert read.metadata == {"format": "pt"} and read.tensors.keys() == loaded.keys()
    for name, tensor in read.tensors.items():
        assert tensor.shape == tuple(loaded[name].shape)
        own = loaded[name].contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        assert data[tensor.start : tensor.end] == own
    assert list(read.tensors.values())[-1].end == len(data)


def test_each_type_that_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    types = {n: torch.zeros(2, dtype=getattr(torch, n)) for n in ("float64", "int8", "bool")}
    types |= {n: torch.zeros((), dtype=getattr(torch, n)) for n in ("bfloat16", "int16", "uint8")}
    save_file({**types, "empty": torch.zeros(0, 5)}, path)
    found = headers.tensors(path, LIMITS)
    assert found["bfloat16"] == Tensor("BF16", (), found["bfloat16"].start, found["bfloat16"].end)
    assert found["empty"].start == found["empty"].end


ONE = {"a": entry("F32", [2], 0, 8)}
WRONG: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "0 bytes in all"),
    "too short": (b"\x02\x00\x00", "3 bytes in all"),
    "no header": (safetensors(b"", length=0), "begins with something else"),
    "length beyond the file": (safetensors(ONE, bytes(8), 10**6), "more bytes (1,000,000)"),
    "length of 2^63": (safetensors(ONE, bytes(8), 2**63), "than there are"),
    "length of 2^64 - 1": (safetensors(ONE, bytes(8), 2**64 - 1), "than there are"),
    "length too short": (safetensors(ONE, bytes(8), 20), "something else"),
    "a text": (b"not a checkpoint at all, but a text of some length", "than there are"),
    "a space first": (safetensors(b" " + json.dumps(ONE).encode(), bytes(8)), "begins with"),
    "a list": (safetensors(b'["a"]'), "begins with"),
    "no JSON": (safetensors(b"{" + b"x" * 50), "something else"),
    "no tensors": (safetensors({"__metadata__": {}}), "it has 0"),
    "a name twice": (safetensors(b'{"a": 1, "a": 2}'), "'a' twice"),
    "deep": (safetensors(b'{"a":' * 50_000), "deeper"),
    "a number for a tensor": (safetensors({"a": 3}), "for 'a'"),
    "a field less": (safetensors({"a": {"dtype": "F32", "shape": [2]}}), "for 'a'"),
    "a field more": (safetensors({"a": {**ONE["a"], "x": 1}}, bytes(8)), "for 'a'"),
    "dtype F8": (safetensors({"a": entry("F8_E4M3", [2], 0, 2)}, bytes(2)), "'F8_E4M3'"),
    "dtype F4": (safetensors({"a": entry("F4", [2], 0, 1)}, bytes(1)), "'F4'"),
    "dtype C64": (safetensors({"a": entry("C64", [1], 0, 8)}, bytes(8)), "'C64'"),
    "dtype U64": (safetensors({"a": entry("U64", [1], 0, 8)}, bytes(8)), "'U64'"),
    "dtype in letters": (safetensors({"a": entry("float", [2], 0, 8)}, bytes(8)), "'float'"),
    "dtype a list": (safetensors({"a": entry(["F32"], [2], 0, 8)}, bytes(8)), "half precision"),
    "dtype that moves": (safetensors({"a": entry("\x1b[2J" * 99, [2], 0, 8)}, bytes(8)), "x1b"),
    "shape a number": (safetensors({"a": entry("F32", 2, 0, 8)}, bytes(8)), "whole numbers"),
    "shape of floats": (safetensors({"a": entry("F32", [2.0], 0, 8)}, bytes(8)), "whole numbers"),
    "shape of truths": (safetensors({"a": entry("F32", [True], 0, 4)}, bytes(4)), "whole numbers"),
    "shape below 0": (safetensors({"a": entry("F32", [-2], 0, 8)}, bytes(8)), "whole numbers"),
    "9 dimensions": (safetensors({"a": entry("F32", [1] * 9, 0, 4)}, bytes(4)), "8 dimensions"),
    "a shape of terabytes": (safetensors({"a": entry("F32", [2**40], 0, 8)}, bytes(8)), "are more"),
    "0 by terabytes": (safetensors({"a": entry("F32", [0, 2**40], 0, 0)}), "are more"),
    "shapes that overflow": (safetensors({"a": entry("F32", [2**62] * 8, 0, 8)}, bytes(8)), "more"),
    "2^64 in a shape": (safetensors({"a": entry("F32", [2**64 + 2], 0, 8)}, bytes(8)), "whole"),
    "more than its place": (safetensors({"a": entry("F32", [3], 0, 8)}, bytes(8)), "12 bytes"),
    "less than its place": (safetensors({"a": entry("F32", [1], 0, 8)}, bytes(8)), "4 bytes"),
    "ends before it begins": (safetensors({"a": entry("F32", [2], 8, 0)}, bytes(8)), "8 to 0"),
    "one place": (safetensors({"a": {**ONE["a"], "data_offsets": [8]}}, bytes(8)), "whole numbers"),
    "overlap": (safetensors({**ONE, "b": entry("F32", [2], 4, 12)}, bytes(12)), "overlaps"),
    "the same place": (safetensors({**ONE, "b": entry("F32", [2], 0, 8)}, bytes(8)), "overlaps"),
    "a gap before": (safetensors({"a": entry("F32", [2], 8, 16)}, bytes(16)), "leaves a gap"),
    "a gap between": (safetensors({**ONE, "b": entry("F32", [1], 12, 16)}, bytes(16)), "a gap"),
    "bytes after": (safetensors(ONE, bytes(9)), "there are"),
    "bytes missing": (safetensors(ONE, bytes(7)), "there are"),
    "metadata a list": (safetensors({"__metadata__": [], **ONE}, bytes(8)), "texts by name"),
    "metadata of numbers": (safetensors({"__metadata__": {"a": 1}, **ONE}, bytes(8)), "texts"),
    "half a character": (
        safetensors(b'{"\\ud800":' + json.dumps(ONE["a"]).encode() + b"}", bytes(8)),
        "that safetensors reads",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_header_is_named(tmp_path: Path, name: str) -> None:
    content, said = WRONG[name]
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    before = devices.peak_bytes(torch.device("cpu"))
    message = refused(lambda: headers.read(path, LIMITS))
    assert said in message and "'model.safetensors'" in message
    assert devices.peak_bytes(torch.device("cpu")) - before < 1 << 26


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"header": 100}, "'header'"),
        ({"tensors": 2}, "'tensors'"),
        ({"elements": 50}, "are more"),
        ({"dimensions": 1}, "dimensions"),
        ({"largest_file": 500}, "'largest_file'"),
    ],
)
def test_limits_hold(tmp_path: Path, limit: dict[str, Any], said: str) -> None:
    path = good_safetensors(tmp_path / "m.safetensors")
    assert said in refused(lambda: headers.read(path, replace(LIMITS, **limit)))


def test_a_header_bomb_is_not_read(tmp_path: Path) -> None:
    """A header of a gigabyte that isn't there takes no memory; nor does one that is."""
    path = tmp_path / "m.safetensors"
    with path.open("wb") as file:
        file.write((10**9).to_bytes(8, "little") + b"{")
        file.truncate(2 * 10**9)
    before = devices.peak_bytes(torch.device("cpu"))
    assert "'header'" in refused(lambda: headers.read(path, LIMITS))
    assert devices.peak_bytes(torch.device("cpu")) - before < 1 << 24


def test_a_folder_and_no_file(tmp_path: Path) -> None:
    refused(lambda: headers.read(tmp_path, LIMITS))
    refused(lambda: headers.read(tmp_path / "none", LIMITS))


def test_names_that_move_the_cursor_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(safetensors({"\x1b[31m\n" + "x" * 999: entry("F32", [9], 0, 8)}, bytes(8)))
    assert r"\x1b[31m\n" in refused(lambda: headers.read(path, LIMITS))
