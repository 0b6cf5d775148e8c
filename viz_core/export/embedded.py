"""Provenance out of the files that carry it: parsed as JSON, checked, and nothing run.

Each format is searched for the one place where this program writes it; no file is opened by a
library that could do more than find it.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

from viz_core.errors import AtlasError, UnknownName
from viz_core.export import provenance
from viz_core.export.provenance import LONGEST, Provenance
from viz_core.words import mark, say

LARGEST = 64 << 20  # bytes of a file that is read: a page holds plotly.js, a bundle holds a page
_ESCAPED = re.compile(rb"\\([\\()])")


def read(path: Path) -> Provenance:
    """The provenance of an exported file, by its ending. Raises AtlasError where there is none,
    UnknownName for another kind of file."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FINDERS:
        raise UnknownName(mark("an exported file ending in one of"), path.suffix, list(FINDERS))
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(say("it is too large"))
        found = FINDERS[kind](path.read_bytes())
    except (OSError, ValueError, KeyError, SyntaxError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or error
        raise AtlasError(
            say(
                "Expected an exported figure at {path}; it can't be read ({reason}). Take the file "
                "as it was exported, or the .json beside it.",
                path=path,
                reason=reason,
            )
        ) from None
    return provenance.parsed(found, path.name)


def _pdf(data: bytes) -> str:
    """The Keywords of the document's information, a literal string in brackets."""
    _, mark, rest = data.partition(b"/Keywords (")
    if not mark:
        raise ValueError(say("it has no keywords"))
    text = re.match(rb"(?:[^\\()]|\\[\\()])*", rest[: 2 * LONGEST], re.DOTALL)
    assert text is not None  # an empty match at least
    return _ESCAPED.sub(rb"\1", text[0]).decode("ascii", "replace")


def _svg(data: bytes) -> str:
    return html.unescape(_between(data, b"<dc:description>", b"</dc:description>"))


def _html(data: bytes) -> str:
    return _between(data, b'<script type="application/json" id="provenance">', b"</script>")


def _png(data: bytes) -> str:
    with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
        return str(image.info["Provenance"])


def _pgf(data: bytes) -> str:
    return _between(data, b"% provenance ", b"\n")


def _csv(data: bytes) -> str:
    return _between(data, b"\n# ", b"\n")


def _npz(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as arrays, arrays.open("about.npy") as file:
        array = io.BytesIO(file.read(8 * LONGEST))  # four bytes for each letter, and a head
        return str(np.lib.format.read_array(array, allow_pickle=False))


def _zip(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as bundle, bundle.open("provenance.json") as file:
        return file.read(LONGEST + 1).decode("utf-8", "replace")


def _json(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _between(data: bytes, first: bytes, last: bytes) -> str:
    _, mark, rest = data.partition(first)
    text, end, _ = rest.partition(last)
    if not (mark and end):
        raise ValueError(say("it holds no provenance"))
    return text[: 2 * LONGEST].decode("utf-8", "replace")


FINDERS = {
    "pdf": _pdf,
    "svg": _svg,
    "png": _png,
    "pgf": _pgf,
    "html": _html,
    "csv": _csv,
    "npz": _npz,
    "zip": _zip,
    "json": _json,
}
