"""A small crowd on a server: `make load` in half a minute, on request (ATLAS_FAULTS=1)."""

from __future__ import annotations

import os

import pytest

from benchmarks import load, load_person


@pytest.mark.skipif(os.environ.get("ATLAS_FAULTS") != "1", reason="on request: ATLAS_FAULTS=1")
def test_each_of_a_crowd_sees_what_one_person_alone_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_person, "THINKING", (0.0, 0.1))
    results = load.run(people=3, minutes=0.3)
    assert (results["lost"], results["strange"], results["differing"]) == ([], [], [])
    assert results["pages"] > 3 and results["seconds"]
