"""A folder of hostile files, each brought to the door: it gets a sentence, and nothing else."""

from __future__ import annotations

import json
import os
import pickle
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.readers.intake.files import (
    Runs,
    entry,
    gguf,
    good_folder,
    good_safetensors,
    safetensors,
    view,
    zipped,
)
from tests.readers.intake.said import LIMITS, refused
from viz_core import devices
from viz_core.readers.intake import Uploads, admit

MARKER = "ran"


def evil_pickle(folder: Path) -> Path:
    torch.save({"a": torch.ones(2), "b": Runs(f"touch {folder / MARKER}")}, folder / "a.pt")
    return folder / "a.pt"


def evil_plain_pickle(folder: Path) -> Path:
    (folder / "a.bin").write_bytes(pickle.dumps(Runs(f"touch {folder / MARKER}")))
    return folder / "a.bin"


def terabytes_of_stride_0(folder: Path) -> Path:
    torch.save({"a": view(4, (2**40,), (0,))}, folder / "a.pth")
    return folder / "a.pth"


def header_bomb(folder: Path) -> Path:
    with (folder / "a.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", 10**9) + b"{")
        file.truncate(10**9 + 8)
    return folder / "a.safetensors"


def terabytes_of_shape(folder: Path) -> Path:
    content = safetensors({"a": entry("F32", [2**40], 0, 2**42)}, bytes(64))
    (folder / "a.safetensors").write_bytes(content)
    return folder / "a.safetensors"


def bomb_of_brackets(folder: Path) -> Path:
    (folder / "a.safetensors").write_bytes(safetensors(b'{"a":' + b"[" * 10**6))
    return folder / "a.safetensors"


def zip_bomb(folder: Path) -> Path:
    return zipped(folder / "a.zip", {"model.safetensors": bytes(1 << 26)})


def zip_that_climbs(folder: Path) -> Path:
    return zipped(folder / "a.zip", {"config.json": b"{}", f"../{MARKER}": b"", "a.pt": b"x"})


def zip_with_a_link(folder: Path) -> Path:
    info = zipfile.ZipInfo("model.safetensors")
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return folder / "a.zip"


def zip_of_an_evil_pickle(folder: Path) -> Path:
    content = evil_pickle(folder).read_bytes()
    return zipped(folder / "a.zip", {"m/a.pt": content, "m/modeling.py": b"raise SystemExit"})


def torch_script(folder: Path) -> Path:
    return zipped(folder / "a.pt", {"a/data.pkl": b"", "a/code/x.py": b"", "a/constants.pkl": b""})


def pickle_under_a_safe_name(folder: Path) -> Path:
    return evil_pickle(folder).rename(folder / "a.safetensors")


def deep_config(folder: Path) -> Path:
    model = good_folder(folder / "m")
    (model / "config.json").write_text('{"a":' * 10**5 + "1" + "}" * 10**5)
    return model


def index_that_climbs(folder: Path) -> Path:
    model = good_folder(folder / "m")
    names = {"weight_map": {"a": "../../../etc/passwd"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(names))
    return model


def gguf_of_terabytes(folder: Path) -> Path:
    (folder / "a.gguf").write_bytes(gguf(counts=(2**62, 2**62)))
    return folder / "a.gguf"


def not_a_number(folder: Path) -> Path:
    content = safetensors({"a": entry("F32", [2], 0, 8)}, struct.pack("<2f", 1, float("nan")))
    (folder / "a.safetensors").write_bytes(content)
    return folder / "a.safetensors"


HOSTILE: list[Callable[[Path], Path]] = [
    evil_pickle,
    evil_plain_pickle,
    terabytes_of_stride_0,
    header_bomb,
    terabytes_of_shape,
    bomb_of_brackets,
    zip_bomb,
    zip_that_climbs,
    zip_with_a_link,
    zip_of_an_evil_pickle,
    torch_script,
    pickle_under_a_safe_name,
    deep_config,
    index_that_climbs,
    gguf_of_terabytes,
    not_a_number,
]


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_a_hostile_file_gets_its_sentence_and_nothing_else(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    (tmp_path / "given").mkdir()
    source = make(tmp_path / "given")
    before = sorted(tmp_path.rglob("*"))
    peak = devices.peak_bytes(torch.device("cpu"))
    refused(lambda: admit(source, tmp_path / "into", LIMITS))
    assert sorted(tmp_path.rglob("*")) == before  # neither what it would leave, nor a part
    assert devices.peak_bytes(torch.device("cpu")) - peak < 1 << 29


def test_what_a_visitor_uploads_stays_in_its_folder(tmp_path: Path) -> None:
    """From the first byte to the end: nothing outside the uploads' root, nothing left in it."""
    uploads = Uploads(tmp_path / "uploads", LIMITS)
    (tmp_path / "given").mkdir()
    source = zip_that_climbs(tmp_path / "given")
    with uploads.begin("mallory") as incoming:
        incoming.write(source.name, [source.read_bytes()])
        upload = incoming.finish()
    refused(lambda: admit(upload.paths, upload.admitted, LIMITS))
    assert os.listdir(upload.folder) == ["files"]
    assert sorted(os.listdir(tmp_path)) == ["given", "uploads"]
    uploads.remove("mallory", upload.id)
    assert [path for path in (tmp_path / "uploads").rglob("*") if path.is_file()] == []


def test_code_beside_weights_is_reported_and_not_handed_on(tmp_path: Path) -> None:
    model = good_folder(tmp_path / "m")
    config = {"auto_map": {"AutoConfig": "evil.Evil"}, "_attn_implementation": "evil/kernel"}
    (model / "config.json").write_text(json.dumps(config))
    (model / "evil.py").write_text(f"open({str(tmp_path / MARKER)!r}, 'w')")
    (model / "tokenizer_config.json").write_text(json.dumps({"vocab_file": "/etc/passwd", "a": 1}))
    found = admit(model, tmp_path / "a", LIMITS)
    assert json.loads((found.folder / "config.json").read_text()) == {}
    assert json.loads((found.folder / "tokenizer_config.json").read_text()) == {"a": 1}
    assert not (found.folder / "evil.py").exists() and not (tmp_path / MARKER).exists()
    assert "'_attn_implementation', 'auto_map'" in found.notes[0]


def test_a_good_file_among_them_passes(tmp_path: Path) -> None:
    """So the door isn't merely shut."""
    assert admit(good_safetensors(tmp_path / "a.safetensors"), tmp_path / "into", LIMITS).weights
