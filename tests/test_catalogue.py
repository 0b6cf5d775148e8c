"""Checkpoints by id and by path, and names that are neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import safetensors.torch
import torch
from tokenizers import Tokenizer

from viz_core import catalogue, texts
from viz_core.errors import AtlasError, DamagedCheckpoint, TextError, UnknownName
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native


def write(path: Path, encoding: str, seed: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    facts = {"tokens_seen": 40, "validation_loss": 3.5}
    native.save(Transformer(ModelConfig(encoding, 1, 2, 8, 10, 16)), path, facts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of checkpoints, inside one with a checkpoint that is none of its own."""
    write(tmp_path / "model.safetensors", "nope", seed=1)
    for name in ("rope", "alibi"):
        write(tmp_path / "shipped" / name / "model.safetensors", name)
    (tmp_path / "shipped" / "training").mkdir()
    (tmp_path / "shipped" / "recipe.toml").touch()
    return tmp_path / "shipped"


def test_checkpoints_are_found_by_folder_in_alphabetical_order(folder: Path) -> None:
    found = catalogue.shipped(folder)
    assert list(found) == ["alibi", "rope"]
    assert all(c.id == c.config.encoding == name for name, c in found.items())
    assert catalogue.find("rope", folder) == found["rope"]


def test_an_empty_or_missing_folder_has_none(tmp_path: Path) -> None:
    assert catalogue.shipped(tmp_path) == {} == catalogue.shipped(tmp_path / "none")


def test_a_damaged_checkpoint_leaves_the_others_in_place(folder: Path) -> None:
    (folder / "alibi" / "model.safetensors").write_bytes(b"")
    found, damaged = catalogue.scan(folder)
    assert list(found) == ["rope"] and len(damaged) == 1 and "alibi" in damaged[0]
    with pytest.raises(DamagedCheckpoint, match="alibi"):
        catalogue.shipped(folder)
    with pytest.raises(DamagedCheckpoint):
        catalogue.find("alibi", folder)
    assert catalogue.find("rope", folder).id == "rope"


def test_a_row_is_plain_json_of_what_the_file_says(folder: Path) -> None:
    checkpoint = catalogue.find("rope", folder)
    row = checkpoint.row()
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert row["id"] == row["encoding"] == "rope" and row["head_dim"] == 4
    assert (row["tokens_seen"], row["validation_loss"]) == (40, 3.5)
    assert row["recipe_sha256"] is None  # not said, not made up
    made = checkpoint.load()
    assert row["parameters"] == sum(p.numel() for p in made.parameters())
    assert row["sha256"] == checkpoint.sha256 == native.sha256(checkpoint.path)


@pytest.mark.parametrize("name", ["ro", "ROPE", "rope ", "model", "", "*", "a\0b", "x" * 300, "⟨"])
def test_unknown_names_are_answered_with_the_known_ones(folder: Path, name: str) -> None:
    with pytest.raises(UnknownName, match="alibi, rope") as caught:
        catalogue.find(name, folder)
    assert "\n" not in str(caught.value) and caught.value.exit_status == 2


def test_a_path_is_read_as_a_file_or_as_the_folder_that_holds_it(folder: Path) -> None:
    inside = folder / "rope"
    for name in (str(inside), str(inside / "model.safetensors"), f"{folder}/../shipped/rope"):
        checkpoint = catalogue.find(name, folder / "none")
        assert checkpoint.id == "rope" and checkpoint.path.samefile(inside / "model.safetensors")
    write(folder / "mine.safetensors", "t5")
    assert catalogue.find(str(folder / "mine.safetensors"), folder).id == "mine"


def test_a_relative_path_is_taken_from_where_one_stands(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert catalogue.find("shipped/rope", folder / "none").id == "rope"
    assert catalogue.find("model.safetensors", folder).config.encoding == "nope"


@pytest.mark.parametrize(
    "name", ["..", ".", "../", "../shipped", "../model.safetensors", "rope/.."]
)
def test_a_name_with_dots_is_a_path_and_never_leaves_the_folder_of_checkpoints(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """From elsewhere there is no such file; the one above the folder isn't found by its name."""
    elsewhere = folder.parent / "a" / "b"
    elsewhere.mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    with pytest.raises(AtlasError, match="there is none"):
        catalogue.find(name, folder)


@pytest.mark.parametrize(
    "name",
    [
        "none.safetensors",
        "none/rope",
        "/none/model.safetensors",
        "x" * 5000 + ".safetensors",
        "a/\0",
    ],
)
def test_a_path_without_a_file_is_named(folder: Path, name: str) -> None:
    with pytest.raises(AtlasError, match="there is none"):
        catalogue.find(name, folder)


def test_a_path_to_something_else_is_no_checkpoint(folder: Path) -> None:
    with pytest.raises(AtlasError, match=r"Expected a checkpoint file at .*recipe\.toml"):
        catalogue.find(f"{folder}/recipe.toml", folder)
    (folder / "text.safetensors").write_text("no weights")
    with pytest.raises(DamagedCheckpoint):
        catalogue.find(f"{folder}/text.safetensors", folder)


def saved(path: Path, weights: dict[str, torch.Tensor]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(weights, path)
    return path


def test_an_attention_layer_alone_reads_texts_with_our_tokenizer(tmp_path: Path) -> None:
    weights = {f"{n}_proj.weight": torch.eye(8) for n in ("q", "k", "v", "out")}
    path = saved(tmp_path / "layer.safetensors", weights)
    one = catalogue.find(f"{path}?heads=2&encoding=alibi")
    assert (one.config.heads, one.config.encoding, one.config.vocabulary) == (2, "alibi", 0)
    assert one.tokenizer().to_str() == Tokenizer.from_file(str(catalogue.TOKENIZER)).to_str()
    assert one.sha256 != catalogue.find(f"{path}?heads=4&encoding=alibi").sha256


def test_without_its_tokenizer_a_checkpoint_takes_token_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_STORE", str(tmp_path / "store"))
    torch.manual_seed(0)
    model = Transformer(ModelConfig("nope", 1, 2, 8, 10, 16))
    path = saved(tmp_path / "bare.safetensors", dict(model.state_dict()))
    pieces = catalogue.find(str(path)).tokenizer()
    assert texts.tokens(texts.PASTED, 3, pieces, pasted="7 0 9").ids == [7, 0, 9]
    assert len(texts.tokens(texts.RANDOM, 5, pieces).ids) == 5
    with pytest.raises(TextError, match="token numbers"):
        texts.tokens(texts.PROSE, 5, pieces)


def test_a_file_of_lightning_and_what_a_refusal_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own name is shown, not that of the file which is made of it, nor that of a folder."""
    monkeypatch.setenv("ATLAS_STORE", str(tmp_path / "store"))
    weights = {f"net.{n}_proj.weight": torch.eye(8) for n in ("q", "k", "v", "out")}
    path = tmp_path / "epoch=3-step=100.ckpt"
    torch.save({"state_dict": weights, "epoch": 3, "callbacks": {}}, path)
    assert catalogue.find(str(path)).description.format == "state-dict"
    unknown = {
        "nothing of attention": {"a.weight": torch.eye(3)},
        "no queries": {n: weights[n] for n in [*weights][1:]},
        "a stray": {**weights, "patch.proj.weight": torch.ones(2, 3, 4, 4)},
    }
    for name, state in unknown.items():
        torch.save(state, tmp_path / f"{name}.ckpt")
        with pytest.raises(DamagedCheckpoint) as caught:
            catalogue.find(f"{tmp_path}/{name}.ckpt")
        assert f"{name}.ckpt" in str(caught.value)
        assert ".safetensors" not in str(caught.value).replace("config.json and .safetensors", "")
    path.rename(tmp_path / "other.ending")
    with pytest.raises(AtlasError, match="its name ends otherwise"):
        catalogue.find(f"{tmp_path}/other.ending")


def test_a_file_of_another_kind_is_checked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_STORE", str(tmp_path / "store"))
    weights = {f"{n}_proj.weight": torch.eye(8) for n in ("q", "k", "v", "out")}
    torch.save(weights, tmp_path / "layer.pt")
    found = catalogue.find(str(tmp_path / "layer.pt"))
    assert (found.id, found.description.format) == ("layer", "state-dict")
    monkeypatch.setattr(catalogue.intake, "admit", lambda *_: pytest.fail("it is known"))
    assert catalogue.find(str(tmp_path / "layer.pt")).sha256 == found.sha256
