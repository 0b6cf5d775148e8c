"""Position encodings, found by folder: each public module here exposes one `ENCODING`.

So does each file of a folder of one's own, which the environment variable ATLAS_ENCODINGS names
(and the option --encodings of the command line).
"""

from __future__ import annotations

import hashlib
import importlib
import os
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from viz_core.encodings import _own
from viz_core.encodings._contract import (
    Encoding,
    Geometry,
    Paper,
    Parameter,
    PositionEncoding,
    Value,
    arange,
)
from viz_core.encodings._ends import ending, retold
from viz_core.errors import UnknownName
from viz_core.words import mark, say

__all__ = [
    "Encoding",
    "Geometry",
    "Paper",
    "Parameter",
    "PositionEncoding",
    "Value",
    "all_encodings",
    "arange",
    "ending",
    "get",
    "identity",
    "retold",
]
OWN = "ATLAS_ENCODINGS"  # the environment variable that names a folder of one's own


def all_encodings() -> Mapping[str, Encoding]:
    """Every encoding by id, in alphabetical order of the files: those here, then one's own.

    Raises AtlasError where one's own folder isn't there, or a file in it is wrong.
    """
    return _every(os.environ.get(OWN, ""))[0]


@cache
def _here() -> dict[str, Encoding]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    cards = [importlib.import_module(f"{__name__}.{name}").ENCODING for name in names]
    return {card.id: card for card in cards}


@cache
def _every(folder: str) -> tuple[dict[str, Encoding], dict[str, str]]:
    """All cards by id, and the sha256 of the files of those that are one's own."""
    found, hashes = dict(_here()), dict[str, str]()
    for path in _own.files(Path(folder).expanduser()) if folder else ():
        card, sha256 = _own.read(path, found)
        found[card.id], hashes[card.id] = card, sha256
    return found, hashes


def get(encoding_id: str) -> Encoding:
    """The encoding called `encoding_id`; `UnknownName` with the list of known ones otherwise."""
    try:
        return all_encodings()[encoding_id]
    except KeyError:
        own = say("or one of your own in the folder {folder}", folder=OWN)
        raise UnknownName(mark("an encoding"), encoding_id, [*all_encodings(), own]) from None


def identity(encoding_id: str, weights: str) -> str:
    """What tells a model's results from others': the hash `weights`, sha256 in hex, of its file.

    With an encoding of one's own, the hash of that and of the encoding's file as it was read: a
    formula may change while the weights stay.
    """
    own = _every(os.environ.get(OWN, ""))[1].get(encoding_id)
    return hashlib.sha256(f"{weights} {own}".encode()).hexdigest() if own else weights
