"""GGUF headers: right ones pass, and each count, size and place that isn't the file's is named."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.readers.intake.files import gguf, list_value, text, text_value
from tests.readers.intake.said import LIMITS, refused
from viz_core.readers.intake.gguf import check

F32, F16, Q8_0 = 0, 1, 8
BIG = 2**63 - 1


def number(value: int) -> bytes:
    return struct.pack("<II", 4, value)


def written(folder: Path, content: bytes) -> Path:
    (folder / "m.gguf").write_bytes(content)
    return folder / "m.gguf"


GOOD: dict[str, bytes] = {
    "plain": gguf(),
    "version 2": gguf(version=2),
    "no values": gguf(counts=None),
    "blocks of 32": gguf(tensors=[("a", [32, 2], Q8_0, 0)]),
    "lists": gguf({"tokenizer.tokens": list_value(["a", "b"]), "one": text_value("größer")}),
    "fixed lists": gguf({"scores": struct.pack("<IIQ", 9, 6, 3) + bytes(12)}),
    "alignment": gguf({"general.alignment": number(64)}, [("a", [4], F32, 64)]),
    "a number of each kind": gguf(
        {f"n{kind}": struct.pack("<I", kind) + bytes(size) for kind, size in [(0, 1), (7, 1)]}
        | {f"m{kind}": struct.pack("<I", kind) + bytes(8) for kind in (10, 11, 12)}
    ),
}
WRONG: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it goes on"),
    "other letters": (b"GGML" + gguf()[4:], "other"),
    "version 1": (gguf(version=1), "it is 1"),
    "the other byte order": (gguf(version=3 << 24), "little-endian"),
    "no tensors": (gguf(tensors=[]), "there are 0"),
    "2^63 tensors": (gguf(counts=(BIG, 1)), "tensors"),
    "2^63 values": (gguf(counts=(2, BIG)), "values"),
    "more values than there are": (gguf(counts=(2, 9)), "Expected"),
    "a text of 2^63 bytes": (
        gguf({"a": struct.pack("<IQ", 8, BIG)}),
        "texts of at most",
    ),
    "a text beyond the end": (gguf({"a": struct.pack("<IQ", 8, 10_000)}), "it goes on"),
    "a name beyond its limit": (gguf({"a" * 1_001: text_value("")}), "1,001"),
    "a list of 2^63": (gguf({"a": struct.pack("<IIQ", 9, 8, BIG)}), "lists of at most"),
    "a fixed list beyond the end": (gguf({"a": struct.pack("<IIQ", 9, 12, 10**5)}), "it goes on"),
    "a list of lists": (gguf({"a": struct.pack("<IIQ", 9, 9, 1)}), "known types"),
    "a value of no type": (gguf({"a": struct.pack("<I", 77)}), "type 77"),
    "no alignment": (gguf({"general.alignment": number(0)}), "power of two"),
    "an alignment of 33": (gguf({"general.alignment": number(33)}), "power of two"),
    "an alignment of 2^31": (gguf({"general.alignment": number(2**31)}), "power of two"),
    "an alignment in words": (gguf({"general.alignment": text_value("32")}), "power of two"),
    "9 dimensions": (gguf(tensors=[("a", [1] * 9, F32, 0)]), "has 9"),
    "2^64 numbers": (gguf(tensors=[("a", [2**32, 2**32], F32, 0)]), "numbers"),
    "numbers that overflow": (gguf(tensors=[("a", [BIG] * 8, F32, 0)]), "numbers"),
    "0 numbers": (gguf(tensors=[("a", [0], F32, 0)]), "has 0"),
    "half a block": (gguf(tensors=[("a", [48], Q8_0, 0)]), "blocks of 32"),
    "no kind of numbers": (gguf(tensors=[("a", [32], 4, 0)]), "kind 4"),
    "beyond the end": (gguf(tensors=[("a", [32, 9], F32, 0)]), "beyond its end"),
    "a place beyond the end": (gguf(tensors=[("a", [4], F32, 2**62)]), "beyond its end"),
    "a place that isn't aligned": (gguf(tensors=[("a", [4], F32, 4)]), "'a'"),
    "overlap": (gguf(tensors=[("a", [32, 4], F32, 0), ("b", [4], F16, 32)]), "apart"),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_right_header_passes(tmp_path: Path, name: str) -> None:
    check(written(tmp_path, GOOD[name]), LIMITS)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_header_is_named(tmp_path: Path, name: str) -> None:
    content, said = WRONG[name]
    assert said in refused(lambda: check(written(tmp_path, content), LIMITS))


@pytest.mark.parametrize("name", GOOD)
def test_cut_off_anywhere(tmp_path: Path, name: str) -> None:
    content = GOOD[name]  # of which the last 1,024 bytes are numbers
    for part in range(0, len(content) - 1_024, 7):
        refused(lambda part=part: check(written(tmp_path, content[:part]), LIMITS))


@pytest.mark.parametrize(
    "limits",
    [
        {"largest_file": 100},
        {"tensors": 1},
        {"elements": 100},
        {"dimensions": 1},
        {"document": 60},
        {"vocabulary": 1},
    ],
    ids=str,
)
def test_limits_hold(tmp_path: Path, limits: dict[str, Any]) -> None:
    path = written(tmp_path, gguf({"tokens": list_value(["a", "b"])}))
    check(path, LIMITS)
    refused(lambda: check(path, replace(LIMITS, **limits)))


def test_names_are_escaped(tmp_path: Path) -> None:
    content = gguf(tensors=[("\x1b[2J", [0], F32, 0)])
    assert text("\x1b[2J") in content
    assert r"\x1b[2J" in refused(lambda: check(written(tmp_path, content), LIMITS))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    refused(lambda: check(tmp_path, LIMITS))
