"""The header of a GGUF file held against the file: counts, sizes and places, not what they mean.

The format (ggml's docs/gguf.md, versions 2 and 3, little-endian): "GGUF", the version, how many
tensors and values; the values, each a name, a type and a content; for each tensor its name, shape,
type and place; then, aligned, the tensors.
"""

from __future__ import annotations

import math
import os
import struct
from pathlib import Path
from typing import IO

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.words import damaged, shown, size
from viz_core.words import say

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
# Values: type -> bytes; 8 is a text, 9 a list.
_FIXED = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_TEXT, _LIST = 8, 9
_UINT32 = 4
# Tensors: type -> (numbers in a block, bytes of a block), from the table in ggml's gguf package.
_BLOCKS = {
    0: (1, 4),  # F32
    1: (1, 2),  # F16
    2: (32, 18),  # Q4_0
    3: (32, 20),  # Q4_1
    6: (32, 22),  # Q5_0
    7: (32, 24),  # Q5_1
    8: (32, 34),  # Q8_0
    9: (32, 40),  # Q8_1
    10: (256, 84),  # Q2_K
    11: (256, 110),  # Q3_K
    12: (256, 144),  # Q4_K
    13: (256, 176),  # Q5_K
    14: (256, 210),  # Q6_K
    15: (256, 292),  # Q8_K
    16: (256, 66),  # IQ2_XXS
    17: (256, 74),  # IQ2_XS
    18: (256, 98),  # IQ3_XXS
    19: (256, 50),  # IQ1_S
    20: (32, 18),  # IQ4_NL
    21: (256, 110),  # IQ3_S
    22: (256, 82),  # IQ2_S
    23: (256, 136),  # IQ4_XS
    24: (1, 1),  # I8
    25: (1, 2),  # I16
    26: (1, 4),  # I32
    27: (1, 8),  # I64
    28: (1, 8),  # F64
    29: (256, 56),  # IQ1_M
    30: (1, 2),  # BF16
    34: (256, 54),  # TQ1_0
    35: (256, 66),  # TQ2_0
    39: (32, 17),  # MXFP4
    40: (64, 36),  # NVFP4
    41: (128, 18),  # Q1_0
}
_VALUES = 10_000  # a file has some forty
_NAME = 1_000  # bytes


def check(path: Path, limits: Limits) -> None:
    """Raises DamagedCheckpoint where the header of the GGUF file `path` is wrong or too large.

    At most `limits.document` bytes are read. Each tensor lies within the file, on bytes of its own.
    """
    try:
        with path.open("rb") as file:
            _Check(file, path, limits).whole()
    except OSError as error:
        raise damaged(
            path, say("a GGUF file"), say("it can't be read ({why})", why=error.strerror)
        ) from None


class _Check:
    """One pass over a header: what has been read, and what may still be."""

    def __init__(self, file: IO[bytes], path: Path, limits: Limits) -> None:
        self.file, self.path, self.limits = file, path, limits
        self.total = os.fstat(file.fileno()).st_size
        self.last = min(self.total, limits.document)
        self.alignment = 32

    def whole(self) -> None:
        if self.total > self.limits.largest_file:
            raise self._wrong(
                say("at most {most}", most=size(self.limits.largest_file)),
                say("it has {size}", size=size(self.total)),
            )
        if self._bytes(4) != _MAGIC:
            raise self._wrong(say("GGUF as the first letters"), say("there are others"))
        version = self._number("I")
        if version not in _VERSIONS:
            raise self._wrong(
                say("version 2 or 3, little-endian"), say("it is {version:,}", version=version)
            )
        tensors, values = self._number("Q"), self._number("Q")
        if not 0 < tensors <= self.limits.tensors or values > _VALUES:
            raise self._wrong(
                say(
                    "1 to {most:,} tensors and at most {most_values:,} values",
                    most=self.limits.tensors,
                    most_values=_VALUES,
                ),
                say("there are {tensors:,} and {values:,}", tensors=tensors, values=values),
            )
        for _ in range(values):
            self._value()
        places = sorted(self._tensor() for _ in range(tensors))
        end = first = -self.file.tell() % self.alignment + self.file.tell()
        for start, length, name in places:
            if first + start < end or start % self.alignment:
                raise self._wrong(
                    say("tensors apart from each other"), say("{name} is not", name=shown(name))
                )
            end = first + start + length
            if end > self.total:
                raise self._wrong(
                    say("all its tensors"), say("{name} lies beyond its end", name=shown(name))
                )

    def _value(self) -> None:
        name, kind = self._text(_NAME), self._number("I")
        if name == b"general.alignment":
            self.alignment = self._number("I") if kind == _UINT32 else 0
            if self.alignment not in (1 << n for n in range(3, 17)):
                raise self._wrong(say("a power of two as alignment"), say("it is something else"))
        elif kind == _LIST:
            inner, count = self._number("I"), self._number("Q")
            if count > self.limits.vocabulary:
                raise self._wrong(
                    say("lists of at most {most:,} values", most=self.limits.vocabulary),
                    say("{name} has {count:,}", name=shown(name), count=count),
                )
            if inner in _FIXED:
                self._bytes(count * _FIXED[inner])
            else:  # lists of lists are nowhere used
                for _ in range(count):
                    self._content(inner)
        else:
            self._content(kind)

    def _content(self, kind: int) -> None:
        if kind == _TEXT:
            self._text(self.limits.document)
        elif kind in _FIXED:
            self._bytes(_FIXED[kind])
        else:
            raise self._wrong(
                say("values of known types"), say("one is of type {kind:,}", kind=kind)
            )

    def _tensor(self) -> tuple[int, int, bytes]:
        """(first byte after the header, bytes, name)."""
        name, count = self._text(_NAME), self._number("I")
        if count > self.limits.dimensions:
            raise self._wrong(
                say("at most {most} dimensions", most=self.limits.dimensions),
                say("{name} has {count:,}", name=shown(name), count=count),
            )
        shape = [self._number("Q") for _ in range(count)]
        kind, start = self._number("I"), self._number("Q")
        if kind not in _BLOCKS:
            raise self._wrong(
                say("known kinds of numbers"),
                say("{name} is of kind {kind:,}", name=shown(name), kind=kind),
            )
        numbers, (block, held) = math.prod(shape), _BLOCKS[kind]
        if not 0 < numbers <= self.limits.elements or (shape and shape[0] % block):
            raise self._wrong(
                say(
                    "1 to {most:,} numbers, in blocks of {block}, for each tensor",
                    most=self.limits.elements,
                    block=block,
                ),
                say("{name} has {numbers:,}", name=shown(name), numbers=numbers),
            )
        return start, numbers // block * held, name

    def _number(self, code: str) -> int:
        return int(struct.unpack("<" + code, self._bytes(struct.calcsize(code)))[0])

    def _text(self, most: int) -> bytes:
        length = self._number("Q")
        if length > most:
            raise self._wrong(
                say("names and texts of at most {most:,} bytes", most=most),
                say("one has {length:,}", length=length),
            )
        return self._bytes(length)

    def _bytes(self, count: int) -> bytes:
        if count > self.last - self.file.tell():
            raise self._wrong(
                say("a header within its {size} and the limit 'document'", size=size(self.total)),
                say("it goes on"),
            )
        return self.file.read(count)

    def _wrong(self, expected: str, came: str) -> DamagedCheckpoint:
        return damaged(self.path, expected, came, say("convert or download it again"))
