"""The door: each kind of checkpoint, by path or uploaded, becomes a folder that is safe to read."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.readers.intake.files import (
    CONFIG,
    gguf,
    good_folder,
    good_pickle,
    good_safetensors,
    weights,
    zipped,
)
from tests.readers.intake.said import LIMITS, refused
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native
from viz_core.readers.intake import Uploads, admit, admitted, beside
from viz_core.readers.intake.shards import INDEX, PICKLED_INDEX


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def as_zip(folder: Path) -> Path:
    return Path(shutil.make_archive(str(folder), "zip", folder.parent, folder.name))


def test_a_native_file_stays_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    native.save(Transformer(ModelConfig("rope", 1, 2, 16, 30, 24)), path, {"seed": 1})
    (tmp_path / "training.csv").write_text("step\n")
    done: list[float] = []
    found = admit(tmp_path, tmp_path / "in" / "a", LIMITS, done.append)
    assert found.kind == "native" and found.folder == tmp_path / "in" / "a"
    assert found.weights == (found.folder / "model.safetensors",)
    assert found.weights[0].is_symlink() and found.weights[0].samefile(path)
    assert found.notes == ("Left out, as not needed: 'training.csv'.",)
    assert done == sorted(done) and done[-1] == 1.0
    assert admitted(found.folder) == found
    assert admit(path, tmp_path / "in" / "b", LIMITS).kind == "native"


def test_weights_of_a_script(tmp_path: Path) -> None:
    path = good_safetensors(tmp_path / "ours.safetensors")
    found = admit(path, tmp_path / "a", LIMITS)
    assert (found.kind, found.weights[0].name) == ("safetensors", "ours.safetensors")


def test_a_pickle_is_converted(tmp_path: Path) -> None:
    found = admit(good_pickle(tmp_path / "ckpt.pt"), tmp_path / "a", LIMITS)
    assert (found.kind, found.weights[0].name) == ("pickle-converted", "model.safetensors")
    assert load_file(found.weights[0]).keys() == weights().keys()
    assert beside(found.weights[0], LIMITS)["model_args"]["n_head"] == 4
    assert found.notes == ("Left out, as no weights: 'optimizer'.",)
    assert tree(tmp_path / "a") == ["admitted.json", "model.safetensors"]


def test_a_pickle_whose_weights_are_not_finite(tmp_path: Path) -> None:
    torch.save({"a": torch.tensor([1.0, float("nan")])}, tmp_path / "ckpt.pt")
    message = refused(lambda: admit(tmp_path / "ckpt.pt", tmp_path / "a", LIMITS))
    assert "'a' holds NaN" in message and "'ckpt.pt'" in message
    assert tree(tmp_path) == ["ckpt.pt"]


def test_gguf(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(gguf())
    assert admit(tmp_path / "m.gguf", tmp_path / "a", LIMITS).kind == "gguf"


@pytest.mark.parametrize("way", ["folder", "zip", "files"])
def test_a_hugging_face_folder(tmp_path: Path, way: str) -> None:
    folder = good_folder(tmp_path / "model")
    (folder / "config.json").write_text(json.dumps({**CONFIG, "auto_map": {"AutoModel": "e.py"}}))
    (folder / "modeling.py").write_text("raise SystemExit")
    source = {"folder": folder, "zip": folder, "files": sorted(folder.iterdir())}[way]
    if way == "zip":
        source = as_zip(folder)
    found = admit(source, tmp_path / "a", LIMITS)
    assert found.kind == "huggingface"
    names = ["admitted.json", "config.json", "model.safetensors", "tokenizer.json"]
    assert tree(found.folder) == names
    assert json.loads((found.folder / "config.json").read_text()) == CONFIG
    code, left = found.notes
    assert code == "'config.json' names code ('auto_map'), which is never run."
    assert "modeling.py'" in left and "README.md'" in left
    assert load_file(found.weights[0]).keys() == weights().keys()
    assert found.weights[0].is_symlink() == (way != "zip")
    assert stat.S_IMODE(found.folder.stat().st_mode) == 0o700


def shards(folder: Path, pickled: bool) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    stem, ends, index = ("model", "safetensors", INDEX)
    if pickled:
        stem, ends, index = ("pytorch_model", "bin", PICKLED_INDEX)
    names = {}
    for n, (name, tensor) in enumerate(weights().items()):
        file = f"{stem}-{n + 1:05d}-of-00005.{ends}"
        names[name] = file
        if pickled:
            torch.save({name: tensor}, folder / file)
        else:
            save_file({name: tensor}, folder / file)
    (folder / index).write_text(json.dumps({"metadata": {}, "weight_map": names}))
    return folder


def test_shards_and_their_index(tmp_path: Path) -> None:
    found = admit(shards(tmp_path / "m", pickled=False), tmp_path / "a", LIMITS)
    assert found.kind == "huggingface" and len(found.weights) == 5
    names = json.loads((found.folder / INDEX).read_text())["weight_map"]
    assert names.keys() == weights().keys()
    assert {found.folder / name for name in names.values()} == set(found.weights)


def test_pickled_shards_become_safetensors(tmp_path: Path) -> None:
    folder = shards(tmp_path / "m", pickled=True)
    index = json.loads((folder / PICKLED_INDEX).read_text())["weight_map"]
    for name in list(index)[2:]:  # each takes a process of its own
        (folder / index.pop(name)).unlink()
    (folder / PICKLED_INDEX).write_text(json.dumps({"weight_map": index}))
    found = admit(folder, tmp_path / "a", LIMITS)
    names = json.loads((found.folder / INDEX).read_text())["weight_map"]
    assert names == {
        name: f"model-0000{n + 1}-of-00005.safetensors" for n, name in enumerate(index)
    }
    assert {path.name for path in found.weights} == set(names.values())


def test_an_index_that_leads_out_or_to_nothing(tmp_path: Path) -> None:
    folder = shards(tmp_path / "m", pickled=False)
    index = json.loads((folder / INDEX).read_text())["weight_map"]
    first = index["mask"]
    for file, said in (("../evil.safetensors", "plain names"), ("b.safetensors", "add what is")):
        (folder / INDEX).write_text(json.dumps({"weight_map": {**index, "mask": file}}))
        assert said in refused(lambda: admit(folder, tmp_path / "a", LIMITS))
    (folder / INDEX).write_text(json.dumps({"weight_map": {**index, "none": first}}))
    assert "'none'" in refused(lambda: admit(folder, tmp_path / "a", LIMITS))
    (folder / INDEX).unlink()
    assert "an index beside 5 files" in refused(lambda: admit(folder, tmp_path / "a", LIMITS))
    assert not (tmp_path / "a").exists()


def test_safetensors_before_pickles(tmp_path: Path) -> None:
    folder = good_folder(tmp_path / "m")
    (folder / "pytorch_model.bin").write_bytes(b"never opened")
    (folder / "training_args.bin").write_bytes(b"never opened")
    found = admit(folder, tmp_path / "a", LIMITS)
    assert [path.name for path in found.weights] == ["model.safetensors"]
    assert "'pytorch_model.bin'" in found.notes[-1] and "'training_args.bin'" in found.notes[-1]
    assert not (found.folder / "pytorch_model.bin").exists()


def test_what_is_no_checkpoint_or_more_than_one(tmp_path: Path) -> None:
    into = tmp_path / "a"
    (tmp_path / "empty").mkdir()
    assert "none among the files" in refused(lambda: admit(tmp_path / "empty", into, LIMITS))
    assert "none among the files" in refused(lambda: admit([], into, LIMITS))
    assert "no such file" in refused(lambda: admit(tmp_path / "no.pt", into, LIMITS))
    two = [good_safetensors(tmp_path / f"{n}.safetensors") for n in "ab"]
    assert "got 2 ('a.safetensors', 'b.saf" in refused(lambda: admit(two, into, LIMITS))
    archive = zipped(tmp_path / "m.zip", {"README.md": b"x"})
    assert "none among" in refused(lambda: admit(archive, into, LIMITS))
    assert "alone" in refused(lambda: admit([archive, two[0]], into, LIMITS))
    assert "twice" in refused(lambda: admit([two[0], two[0]], into, LIMITS))
    into.mkdir()
    assert "new folder" in refused(lambda: admit(two[0], into, LIMITS))
    assert admitted(into) is None and admitted(tmp_path / "none") is None


def test_a_cancelled_admission_leaves_nothing(tmp_path: Path) -> None:
    class Cancelled(Exception):
        pass

    def cancel(done: float) -> None:
        raise Cancelled

    source = as_zip(good_folder(tmp_path / "m"))
    with pytest.raises(Cancelled):
        admit(source, tmp_path / "out" / "a", LIMITS, cancel)
    assert os.listdir(tmp_path / "out") == []


def test_of_two_at_once_the_later_takes_what_the_first_has_made(tmp_path: Path) -> None:
    path, into = good_safetensors(tmp_path / "m.safetensors"), tmp_path / "a"
    firsts = []

    def meanwhile(done: float) -> None:
        if not firsts:
            firsts.append(None)
            firsts.append(admit(path, into, LIMITS))

    assert admit(path, into, LIMITS, meanwhile) == firsts[1]
    assert tree(tmp_path) == ["a", "a/admitted.json", "a/m.safetensors", "m.safetensors"]


def test_an_upload_is_admitted_beside_itself_and_moves_as_a_whole(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path / "uploads", LIMITS)
    folder = good_folder(tmp_path / "m")
    with uploads.begin("ann") as incoming:
        for name in ("config.json", "model.safetensors"):
            incoming.write(name, [(folder / name).read_bytes()])
        upload = incoming.finish()
    found = admit(upload.paths, upload.admitted, LIMITS)
    assert found.kind == "huggingface" and uploads.open("ann", upload.id) == upload
    uploads.publish(upload.id)
    moved = admitted(uploads.open("bob", upload.id).admitted)
    assert moved is not None and load_file(moved.weights[0]).keys() == weights().keys()
    assert admitted(upload.admitted) is None
