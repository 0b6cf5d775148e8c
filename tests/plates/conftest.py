"""Plates drawn once for all tests: from shipped tables and portraits, or from a short text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tests.plates import emergence_tables
from viz_core import plates
from viz_core.export import Export
from viz_core.export.target import Target

SHORT = {"text": "random", "texts": 2, "length": 128}  # needs no corpus
OF_SHORT = "~text-random~texts-2~length-128"  # the same in the words of a pin
MIXED = [
    f"{name}~places-{place}{OF_SHORT}"
    for place in ("alibi.3.4", "rope.3.1")
    for name in ("map", "curves")
]
GIVEN = {
    **dict.fromkeys(("staircase-ripples", "head-wall", "map", "curves", "difference"), SHORT),
    "tray": {"pins": MIXED},
}
Drawn = Callable[..., Export]


@pytest.fixture(scope="session")
def drawn(own_store: None, tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    """A plate's export for a target, drawn once with options that take no time."""
    table = emergence_tables.write(tmp_path_factory.mktemp("tables") / "emergence.csv")
    given = GIVEN | {"emergence": {"table": str(table)}}

    @cache
    def plot(name: str) -> plates.Plot:
        plate = plates.get(name)
        return plate.draw({**plate.options, **given.get(name, {})}, lambda done: None)

    def export(name: str, target: Target = Target()) -> Export:  # noqa: B008
        kept = plot(name)
        plate = plates.get(name)
        known = plates.Plate(plate.id, plate.title, plate.options, lambda options, done: kept)
        return known.export(given.get(name, {}), target)

    return export
