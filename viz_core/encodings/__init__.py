"""Position encodings, found by folder: each public module here exposes one `ENCODING`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from viz_core.encodings._contract import (
    Encoding,
    Geometry,
    Paper,
    Parameter,
    PositionEncoding,
    Value,
    arange,
)
from viz_core.errors import UnknownName

__all__ = [
    "Encoding",
    "Geometry",
    "Paper",
    "Parameter",
    "PositionEncoding",
    "Value",
    "all_encodings",
    "arange",
    "get",
]


@cache
def all_encodings() -> dict[str, Encoding]:
    """Every encoding of this folder by id, in alphabetical order of the files."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    cards = [importlib.import_module(f"{__name__}.{name}").ENCODING for name in names]
    return {card.id: card for card in cards}


def get(encoding_id: str) -> Encoding:
    """The encoding called `encoding_id`; `UnknownName` with the list of known ones otherwise."""
    try:
        return all_encodings()[encoding_id]
    except KeyError:
        raise UnknownName("an encoding", encoding_id, list(all_encodings())) from None
