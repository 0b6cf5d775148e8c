"""The header of a safetensors file, checked in full before anything is allocated or mapped.

The format (its authors' description): 8 bytes, the length of the header, little-endian; the header,
JSON: for each tensor its dtype, its shape and where in the rest of the file its bytes begin and
end, and under "__metadata__" texts by name; then the bytes, without a gap, to the end of the file.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.intake import documents
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.words import damaged, shown, size
from viz_core.words import say

# Bytes of one number. Weights are floats; integers are taken as well, for beside them stand masks
# and positions. Not taken: numbers of less than 16 bits that weights are quantised to (F8_E4M3,
# F4, ...), complex ones, and unsigned ones, which no weights come in.
DTYPES = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
}


@dataclass(frozen=True)
class Tensor:
    """One tensor of a file: `start` and `end` are bytes from the beginning of the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Header:
    """What a file says of itself: tensors in the order of their bytes, and texts by name."""

    tensors: dict[str, Tensor]
    metadata: dict[str, str]


def tensors(path: Path, limits: Limits) -> dict[str, Tensor]:
    """The tensors of `path`; raises as `read` does."""
    return read(path, limits).tensors


def read(path: Path, limits: Limits) -> Header:
    """The header of the safetensors file `path`: at most `limits.header` bytes are read.

    Raises DamagedCheckpoint where sizes, dtypes, shapes or places are wrong, contradict each other
    or the file, or are beyond `limits`.
    """
    try:
        with path.open("rb") as file:
            total = file.seek(0, 2)
            file.seek(0)
            text = _text(file.read(8), total, path, limits)
            data = file.read(text)
    except OSError as error:
        raise damaged(
            path, say("a safetensors file"), say("it can't be read ({why})", why=error.strerror)
        ) from None
    if len(data) != text:  # cut off since its size was taken
        raise damaged(path, say("a header of {text:,} bytes", text=text), say("it ends before"))
    if data[:1] != b"{":
        raise damaged(path, say("a safetensors header"), say("it begins with something else"))
    described = documents.parse(data, path.name, limits)
    found = _found(described, 8 + text, path, limits)
    _cover(found, 8 + text, total, path)
    metadata = _metadata(described, path)
    try:  # the library that will read it must see the same
        with safe_open(path, framework="np") as opened:
            same = set(opened.keys()) == set(found) and (opened.metadata() or {}) == metadata
    except (SafetensorError, OSError):
        same = False
    if not same:
        raise damaged(path, say("a header that safetensors reads"), say("it reads another or none"))
    return Header(found, metadata)


def _text(length: bytes, total: int, path: Path, limits: Limits) -> int:
    """The number of bytes of the header's JSON."""
    if total > limits.largest_file:
        raise damaged(
            path,
            say("at most {most}", most=size(limits.largest_file)),
            say("it has {size}", size=size(total)),
            say("raise the limit 'largest_file' if it is right"),
        )
    if len(length) < 8:
        raise damaged(
            path, say("a safetensors file"), say("it has {total} bytes in all", total=total)
        )
    (text,) = struct.unpack("<Q", length)
    if text > total - 8:
        raise damaged(
            path,
            say("a safetensors file"),
            say("its header claims more bytes ({text:,}) than there are", text=text),
        )
    if text > limits.header:
        raise damaged(
            path,
            say("a header of at most {most}", most=size(limits.header)),
            say("it claims {size}", size=size(text)),
            say("raise the limit 'header' if it is right"),
        )
    return int(text)


def _found(described: dict[str, Any], data: int, path: Path, limits: Limits) -> dict[str, Tensor]:
    """The tensors in the order of their bytes, which begin at `data`; each is right in itself."""
    names = [name for name in described if name != "__metadata__"]
    if not 0 < len(names) <= limits.tensors:
        raise damaged(
            path,
            say("1 to {most:,} tensors", most=limits.tensors),
            say("it has {n:,}", n=len(names)),
            say("save it with its weights, or raise the limit 'tensors' if it is right"),
        )
    found = {name: _tensor(name, described[name], data, path, limits) for name in names}
    return dict(sorted(found.items(), key=lambda item: (item[1].start, item[1].end)))


def _tensor(name: str, entry: Any, data: int, path: Path, limits: Limits) -> Tensor:
    def wrong(expected: str, came: str, do: str = "") -> DamagedCheckpoint:
        return damaged(
            path, say("{expected} for {name}", expected=expected, name=shown(name)), came, do
        )

    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise wrong(say("dtype, shape and data_offsets"), say("there is something else"))
    dtype, shape, places = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise wrong(
            say("one of {kinds}", kinds=", ".join(DTYPES)),
            say("it is {kind}", kind=shown(dtype)),
            say("convert it to half precision"),
        )
    if not _whole(shape) or not _whole(places) or len(places) != 2:
        raise wrong(say("whole numbers as shape and places"), say("there is something else"))
    if len(shape) > limits.dimensions:
        raise wrong(
            say("at most {most} dimensions", most=limits.dimensions),
            say("there are {n:,}", n=len(shape)),
        )
    elements = math.prod(shape)  # of at most 40 digits each: a moment
    if elements > limits.elements or max(shape, default=0) > limits.elements:
        raise wrong(
            say("at most {most:,} numbers", most=limits.elements),
            say("{shape} are more", shape=shown(shape)),
        )
    start, end = places
    if end - start != elements * DTYPES[dtype]:
        raise wrong(
            say("{bytes:,} bytes", bytes=elements * DTYPES[dtype]),
            say("its places are {start:,} to {end:,}", start=start, end=end),
        )
    return Tensor(dtype, tuple(shape), data + start, data + end)


def _whole(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(n) is int and 0 <= n < 2**63 for n in numbers)


def _cover(found: dict[str, Tensor], data: int, total: int, path: Path) -> None:
    """Raises unless the tensors, one after the other, take every byte from `data` to `total`."""
    end = data
    for name, tensor in found.items():
        if tensor.start != end:
            came = say("{name} leaves a gap after the one before", name=shown(name))
            if tensor.start < end:
                came = say("{name} overlaps the one before", name=shown(name))
            raise damaged(path, say("tensors one after the other"), came)
        end = tensor.end
    if end != total:
        raise damaged(
            path,
            say("{end:,} bytes, as its header says", end=end),
            say("there are {total:,}", total=total),
            say("copy or download it again"),
        )


def _metadata(described: dict[str, Any], path: Path) -> dict[str, str]:
    metadata = described.get("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise damaged(
            path, say("texts by name under '__metadata__'"), say("there is something else")
        )
    return metadata
