"""Which names are taken: those of checkpoints, flat, and none that leads elsewhere."""

from __future__ import annotations

import pytest

from tests.readers.intake.said import refused
from viz_core.readers.intake.names import allowed, choose, uploadable

GOOD = [
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "model.safetensors",
    "model-00001-of-00002.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "smol.Q8_0.gguf",
    "my größtes model (1).pt",
    "ckpt.pth",
]
OTHERS = [
    "",
    ".",
    "..",
    "README.md",
    "modeling_evil.py",
    "Config.json",
    "config.json ",
    "config.json\n",
    "training_args.json",
    "chat_template.jinja",
    ".model.pt",
    "-rf.pt",
    " model.pt",
    "a/b.pt",
    "a\\b.pt",
    "c:a.pt",
    "a\x00.pt",
    "a\n.pt",
    "a\u202e.pt",
    "a\ud800.pt",
    "CON.pt",
    "nul.tar.pt",
    "x" * 200 + ".pt",
    "ü" * 100 + ".pt",
    ".pt",
    "admitted.json",
]
HOSTILE = [
    "../model.pt",
    "a/../../model.pt",
    "..",
    "/etc/passwd",
    "/model.pt",
    "C:/model.pt",
    "c:model.pt",
    "..\\model.pt",
    "a\\model.pt",
    "\\\\server\\share\\model.pt",
    "a\x00/model.pt",
    "model.pt\x00.txt",
    "a\nb/model.pt",
    "\u202emodel.pt",
    "",
    "/",
    ".",
    "d/" * 600 + "model.pt",
]


def test_the_files_of_a_checkpoint_are_taken() -> None:
    assert all(allowed(name) and uploadable(name) for name in GOOD)
    assert uploadable("model.zip") and not allowed("model.zip")


@pytest.mark.parametrize("name", OTHERS, ids=lambda name: ascii(name)[:20])
def test_others_are_not(name: str) -> None:
    assert not allowed(name) and not uploadable(name)


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:20])
def test_a_name_that_leads_elsewhere_stops_all(name: str) -> None:
    assert "lead elsewhere" in refused(lambda: choose(["model.pt", name]))


def test_the_top_or_the_one_folder_there() -> None:
    flat = choose(["config.json", "./model.safetensors", "notes.txt", "onnx/model.bin"])
    assert flat.taken == {
        "config.json": "config.json",
        "./model.safetensors": "model.safetensors",
    }
    assert flat.left_out == ["notes.txt", "onnx/model.bin"]
    deeper = choose(["m/config.json", "m//model.bin", "m/1_Pooling/config.json", "README.md"])
    assert deeper.taken == {"m/config.json": "config.json", "m//model.bin": "model.bin"}
    assert choose(["a/b/model.pt"]).taken == {}
    assert choose([]).taken == {}


def test_what_macs_add_is_left_out() -> None:
    found = choose(["m/model.pt", "__MACOSX/m/._model.pt", "__MACOSX/model.pt", "m/.DS_Store"])
    assert found.taken == {"m/model.pt": "model.pt"}


def test_two_folders_or_two_files_of_a_name() -> None:
    assert "got 2 folders" in refused(lambda: choose(["a/model.pt", "b/model.pt"]))
    assert "twice" in refused(lambda: choose(["Model.pt", "model.pt"]))
    assert "twice" in refused(lambda: choose(["./model.pt", "model.pt"]))
