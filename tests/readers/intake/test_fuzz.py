"""10,000 mutated copies of good files, always the same: each is accepted, or gets its sentence.

A seed for each kind of file, so that a failure comes again. The pickles go through one confined
child (see `child`); the others are parsed here, where nothing is ever unpickled.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.readers.intake.child import reasons
from tests.readers.intake.files import (
    CONFIG,
    TOKENIZER,
    gguf,
    good_pickle,
    good_safetensors,
    list_value,
    zipped,
)
from tests.readers.intake.said import LIMITS, sentence
from viz_core import devices
from viz_core.errors import AtlasError
from viz_core.readers.intake import finite, pickles
from viz_core.readers.intake import gguf as gguf_reader
from viz_core.readers.intake.archives import extract
from viz_core.readers.intake.documents import read_json, without_code
from viz_core.readers.intake.names import allowed
from viz_core.readers.intake.reasons import refused as refusal

COPIES = 2_000  # of each of five kinds
EDGES = [0, 1, 2**7, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]
WORDS = [b"null", b"NaN", b"-1", b"1e999", b"9" * 50, b"[" * 50, b'"', b"\xff", b"{}", b",", b"\\u"]


def mutated(good: bytes, dice: random.Random) -> bytes:
    """`good` after one to four changes, of bits, bytes, numbers, words, pieces or its length."""
    data = bytearray(good)
    for _ in range(dice.randint(1, 4)):
        # Where the structure is: near the beginning, the end, or anywhere.
        near = dice.choice([len(data), min(200, len(data))])
        at = dice.randrange(near + 1)
        at = dice.choice([at, len(data) - at])
        match dice.randrange(8):
            case 0 if at < len(data):
                data[at] ^= 1 << dice.randrange(8)
            case 1 if at < len(data):
                data[at] = dice.choice([0, 255, dice.randrange(256)])
            case 2:
                size = dice.choice([2, 4, 8])
                edge = dice.choice(EDGES) % 2 ** (8 * size)
                data[at : at + size] = edge.to_bytes(size, "little")
            case 3:
                word = dice.choice(WORDS)
                data[at : at + dice.choice([0, len(word)])] = word
            case 4:
                del data[at : at + dice.randint(1, 40)]
            case 5:
                piece = data[at : at + dice.randint(1, 200)]
                other = dice.randrange(len(data) + 1)
                data[other:other] = piece
            case 6:
                del data[at:]
            case _:
                digits = [i for i, byte in enumerate(data[:2_000]) if 48 <= byte < 58]
                if digits:
                    data[dice.choice(digits)] = dice.randrange(48, 58)
    return bytes(data)


def parse_safetensors(path: Path) -> None:
    finite.check(path, LIMITS)


def parse_zip(path: Path) -> None:
    into = path.parent / "into"
    try:
        extract(path, into, LIMITS)
        assert sum(file.stat().st_size for file in into.iterdir()) <= 100 * path.stat().st_size
        assert all(map(allowed, os.listdir(into)))
    finally:
        shutil.rmtree(into, ignore_errors=True)


def parse_json(path: Path) -> None:
    without_code(read_json(path, LIMITS))


def parse_gguf(path: Path) -> None:
    gguf_reader.check(path, LIMITS)


def good_zip(path: Path) -> bytes:
    files = {"m/config.json": b"{}", "m/model.pt": b"x" * 300, "README": b""}
    return zipped(path, files).read_bytes()


def good_json(path: Path) -> bytes:
    return json.dumps([CONFIG, TOKENIZER, {"auto_map": {"a": "b.py"}, "n": [1.5, -2e-3]}]).encode()


def good_gguf(path: Path) -> bytes:
    number = struct.pack("<II", 4, 32)
    return gguf({"general.alignment": number, "tokens": list_value(["a", "bc", "def"])})


KINDS: dict[str, tuple[Callable[[Path], bytes], Callable[[Path], None]]] = {
    "model.safetensors": (lambda path: good_safetensors(path).read_bytes(), parse_safetensors),
    "model.zip": (good_zip, parse_zip),
    "config.json": (good_json, parse_json),
    "model.gguf": (good_gguf, parse_gguf),
}


@pytest.mark.parametrize("name", KINDS)
def test_parsers_here(tmp_path: Path, name: str) -> None:
    make, parse = KINDS[name]
    path = tmp_path / "work" / name
    path.parent.mkdir()
    good, dice, accepted = make(path), random.Random(name), 0
    path.write_bytes(good)
    parse(path)
    before = devices.peak_bytes(torch.device("cpu"))
    for n in range(COPIES):
        path.write_bytes(mutated(good, dice))
        try:
            parse(path)
            accepted += 1
        except AtlasError as error:
            sentence(str(error))
        except BaseException as error:
            pytest.fail(f"copy {n} of {name}: {error!r}")
    assert 0 < accepted < COPIES * 0.9  # both are met
    assert list(tmp_path.rglob("*")) == [path.parent, path]
    assert devices.peak_bytes(torch.device("cpu")) - before < 1 << 28


def test_pickles_in_one_child(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    good = [good_pickle(tmp_path / f"m{old}.pt", bool(old)).read_bytes() for old in (0, 1)]
    dice, sources = random.Random("pickle"), []
    for n in range(COPIES):
        sources.append(tmp_path / "in" / f"{n}.pt")
        sources[-1].write_bytes(mutated(good[n % 2], dice))
    out = tmp_path / "out"
    met, accepted = set(), 0
    for path, (reason, name) in zip(sources, reasons(sources, out), strict=True):
        made = out / f"{path.name}.safetensors"
        met.add(reason)
        try:
            pickles._look(path, LIMITS)  # the parent's own look, before any child
            if reason != "done":
                raise refusal(path, reason, name)
            finite.check(made, LIMITS)
            accepted += 1
        except AtlasError as error:
            sentence(str(error))
        made.unlink(missing_ok=True)
    assert 0 < accepted < COPIES * 0.9
    assert {"done", "broken", "global"} <= met
    assert list(out.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "m0.pt", "m1.pt", "out", "out.said"]
