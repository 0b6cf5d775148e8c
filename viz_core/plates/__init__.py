"""Plates: figures that are ready for a paper, from checkpoints to panels, found by folder.

Each public module exposes one `PLATE`, which gathers what its figure shows and says where it comes
from.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from viz_core.errors import UnknownName
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.words import mark

__all__ = ["Options", "Plate", "Plot", "all_plates", "get"]


@cache
def all_plates() -> dict[str, Plate]:
    """Every plate of this folder by id."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    plates = [importlib.import_module(f"{__name__}.{name}").PLATE for name in names]
    return {plate.id: plate for plate in plates}


def get(name: str) -> Plate:
    """The plate called `name`. Raises UnknownName."""
    if name not in all_plates():
        raise UnknownName(mark("a figure"), name, list(all_plates()))
    return all_plates()[name]
