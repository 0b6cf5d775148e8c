"""A random model of each family, saved once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.readers.huggingface.families import Saved, save

Model = Callable[[str], Saved]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """The saved model of a family, by the name of the family."""
    made: dict[str, Saved] = {}

    def of(family: str) -> Saved:
        if family not in made:
            made[family] = save(tmp_path_factory.mktemp(family), family)
        return made[family]

    return of
