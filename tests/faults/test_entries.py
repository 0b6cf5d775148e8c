"""Store entries that are no good count as absent: what is shown is computed again, and is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from pages._shared import loaded, measuring
from tests.faults.conftest import Start, kept, opened, seen
from tests.test_store import same
from viz_core import keys, texts
from viz_core.catalogue import Checkpoint
from viz_core.progress import ignore

DAMAGE = {
    "cut off": lambda data: data[: len(data) // 2],
    "altered": lambda data: data[:-500] + bytes(b ^ 1 for b in data[-500:]),
    "emptied": lambda data: b"",
    "another file's": lambda data: b"PK\x03\x04" + bytes(500),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_entry_is_replaced_and_nobody_sees_it(
    how: str, start: Start, tmp_path: Path
) -> None:
    store = start(tmp_path)
    right = seen(opened())
    whole = {path: load_file(path) for path in kept(store)}
    assert len(whole) == 2
    for path in whole:
        path.write_bytes(DAMAGE[how](path.read_bytes()))
    store = start(tmp_path)
    assert seen(opened()) == right
    assert kept(store) == sorted(whole)
    for path, arrays in whole.items():
        assert same(load_file(path), arrays)


def test_an_entry_that_another_version_arranged_is_computed_again(
    start: Start, tmp_path: Path, rope: Checkpoint
) -> None:
    some = texts.passages("random", 64, 2, loaded.tokenizer(rope))
    store = start(tmp_path)
    key = keys.survey(rope, some, "log")
    assert store.put(key, {"maps": np.zeros(3)}, {"rows": "[0, 64]"})
    found = measuring.surveyed(rope, some, "log", ignore)
    assert found.windows[0].value.shape == (8, 64, 64)
    entry = store.get(key)
    assert entry is not None and "maps" not in entry.arrays
