"""Indices over several files: plain names, and each tensor where it is said to be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.readers.intake.files import good_safetensors, weights
from tests.readers.intake.said import LIMITS, refused
from viz_core.readers.intake.shards import check_index, read_index, write_index


def index(folder: Path, value: Any) -> Path:
    (folder / "model.safetensors.index.json").write_text(json.dumps(value))
    return folder / "model.safetensors.index.json"


def test_an_index_comes_back(tmp_path: Path) -> None:
    files = {name: good_safetensors(tmp_path / name) for name in ["model-1.safetensors"]}
    path = tmp_path / "model.safetensors.index.json"
    write_index(path, files, LIMITS)
    names = read_index(path, LIMITS)
    assert names == dict.fromkeys(weights(), "model-1.safetensors")
    check_index(names, files, LIMITS)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"weight_map": None},
        {"weight_map": {}},
        {"weight_map": ["a"]},
        {"weight_map": {"a": 3}},
        {"weight_map": {"a": "../model.safetensors"}},
        {"weight_map": {"a": "/etc/passwd"}},
        {"weight_map": {"a": "b\\model.safetensors"}},
        {"weight_map": {"a": "C:model.safetensors"}},
        {"weight_map": {"a": "a\x00.safetensors"}},
    ],
    ids=str,
)
def test_what_is_no_index(tmp_path: Path, value: Any) -> None:
    refused(lambda: read_index(index(tmp_path, value), LIMITS))


def test_too_many_tensors(tmp_path: Path) -> None:
    path = index(tmp_path, {"weight_map": {str(n): "a.bin" for n in range(5)}})
    refused(lambda: read_index(path, replace(LIMITS, tensors=4)))


def test_a_tensor_or_a_file_that_is_missing(tmp_path: Path) -> None:
    files = {"a.safetensors": good_safetensors(tmp_path / "a.safetensors")}
    missing = {"mask": "b.safetensors"}
    assert "'b.safetensors'" in refused(lambda: check_index(missing, files, LIMITS))
    wrong = {"mask": "a.safetensors", "none": "a.safetensors"}
    assert "'none'" in refused(lambda: check_index(wrong, files, LIMITS))
