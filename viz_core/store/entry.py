"""An entry as a file: arrays, words about them, a checksum of both. Nothing in it is ever run."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from viz_core.store.key import RunKey

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Entry:
    """A stored result: its arrays, and `about`, words for people (titles, units, where from)."""

    arrays: dict[str, npt.NDArray[Any]]
    about: dict[str, str]


def pack(key: RunKey, arrays: Arrays, about: Mapping[str, str]) -> bytes:
    """The bytes of a file that holds `arrays` and `about`, and says that they are of `key`."""
    # safetensors copies memory as it lies there: of a strided view it would take the wrong numbers.
    plain = {n: np.asarray(a, a.dtype.newbyteorder("="), order="C") for n, a in arrays.items()}
    words = {
        "key": key.json,
        "about": json.dumps(dict(about)),
        "numpy": np.__version__,
        "torch": version("torch"),
    }
    return save(plain, {**words, "checksum": _checksum(words, plain)})


def unpack(data: bytes, key: RunKey) -> Entry | None:
    """The entry in a file's bytes; None if they aren't exactly what was put for `key`."""
    try:
        arrays = load(data)
        # The format: eight bytes say how long the JSON header is, which holds the words.
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        words = dict(header["__metadata__"])
        checksum = words.pop("checksum")
        if words["key"] != key.json or checksum != _checksum(words, arrays):
            return None
        return Entry(arrays, json.loads(words["about"]))
    except (SafetensorError, ValueError, KeyError, TypeError):
        return None


def _checksum(words: Mapping[str, str], arrays: Arrays) -> str:
    """CRC-32 of everything: safetensors checks a file's lengths, but not its contents."""
    total = zlib.crc32(json.dumps(words, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        total = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total)
        total = zlib.crc32(array.data, total)
    return f"{total:08x}"
