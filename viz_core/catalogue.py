"""Checkpoints by name: the shipped ones in `checkpoints/`, and any other by its path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from viz_core.errors import AtlasError, DamagedCheckpoint, UnknownName
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native

SHIPPED = Path(__file__).parents[1] / "checkpoints"
TOKENIZER = SHIPPED / "tokenizer.json"


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint file: what it says about itself; weights are read by `load`."""

    id: str
    path: Path
    config: ModelConfig
    facts: dict[str, Any]

    @cached_property
    def sha256(self) -> str:
        """The hash of the file's bytes."""
        return native.sha256(self.path)

    def load(self, device: torch.device | None = None) -> Transformer:
        """The model in float32 on `device` (the CPU by default). Raises DamagedCheckpoint."""
        return native.load(self.path)[0].to(device or "cpu")

    def row(self) -> dict[str, Any]:
        """What `list` shows of it, in plain JSON types."""
        c = self.config
        with torch.device("meta"):
            parameters = sum(p.numel() for p in Transformer(c).parameters())
        return {
            "id": self.id,
            "encoding": c.encoding,
            "encoding_parameters": c.parameters,
            "layers": c.layers,
            "heads": c.heads,
            "head_dim": c.width // c.heads,
            "width": c.width,
            "vocabulary": c.vocabulary,
            "trained_length": c.length,
            "parameters": parameters,
            "tokens_seen": self.facts.get("tokens_seen"),
            "validation_loss": self.facts.get("validation_loss"),
            "loss_by_position": self.facts.get("loss_by_position"),
            "recipe_sha256": self.facts.get("recipe_sha256"),
            "corpus_sha256": self.facts.get("corpus_sha256"),
            "tokenizer_sha256": self.facts.get("tokenizer_sha256"),
            "sha256": self.sha256,
        }


def shipped(folder: Path = SHIPPED) -> dict[str, Checkpoint]:
    """Every checkpoint in `folder` by id, in alphabetical order. Raises DamagedCheckpoint."""
    found, damaged = scan(folder)
    if damaged:
        raise DamagedCheckpoint(damaged[0])
    return found


def scan(folder: Path = SHIPPED) -> tuple[dict[str, Checkpoint], list[str]]:
    """(the checkpoints in `folder` that can be read, a sentence for each that can't)."""
    found, damaged = {}, []
    for path in sorted(folder.glob("*/model.safetensors")):
        try:
            found[path.parent.name] = _read(path.parent.name, path)
        except DamagedCheckpoint as error:
            damaged.append(f"Checkpoint {path.parent.name} is left out. {error}")
    return found, damaged


def find(name: str, folder: Path = SHIPPED) -> Checkpoint:
    """The shipped checkpoint with id `name`, or the file at that path.

    Raises UnknownName with the known ids, DamagedCheckpoint for a file that can't be read.
    """
    known = {p.parent.name: p for p in sorted(folder.glob("*/model.safetensors"))}
    if name in known:
        return _read(name, known[name])
    if name.endswith(".safetensors") or "/" in name or _is_folder(name):
        path = Path(name)
        path = path / "model.safetensors" if _is_folder(name) else path
        try:
            there = path.is_file()
        except OSError:  # a name too long to be one
            there = False
        if not there:
            raise AtlasError(f"Expected a checkpoint file at {name}; there is none.")
        return _read(path.stem if path.stem != "model" else path.resolve().parent.name, path)
    raise UnknownName("a checkpoint", name, [*known, "the path of a .safetensors file"])


def _is_folder(name: str) -> bool:
    try:
        return name != "" and Path(name).is_dir()
    except OSError:
        return False


def _read(name: str, path: Path) -> Checkpoint:
    config, facts = native.describe(path)
    return Checkpoint(name, path, config, facts)
