"""Small checkpoints and a small sweep of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from viz_core.jobs.work import Work
from viz_core.model import ModelConfig, Transformer
from viz_core.readers import native

Write = Callable[..., Path]
LIMIT = 1 << 28  # bytes of the store


def saved(path: Path, encoding: str, seed: int = 0, **facts: int) -> Path:
    """A model of 2 layers and 2 heads, trained (so it says) at 256 tokens."""
    torch.manual_seed(seed)
    model = Transformer(ModelConfig(encoding, 2, 2, 16, 4096, 256))
    with torch.no_grad():
        model.embedding.weight.mul_(50)
    native.save(model, path, dict(facts))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """alibi, rope and learned, each in a file of its name, and two steps of a training of RoPE."""
    found = tmp_path / "models"
    found.mkdir()
    for name in ("alibi", "rope", "learned"):
        saved(found / f"{name}.safetensors", name)
    for step in (10, 200):
        saved(
            found / f"step-{step:06}.safetensors", "rope", step, step=step, tokens_seen=100 * step
        )
    return found


@pytest.fixture
def write(folder: Path) -> Write:
    """Writes a spec beside the models: `lines` after what every spec needs, unless given anew."""

    def write(*lines: str, **given: str) -> Path:
        plain = {
            "checkpoints": '["alibi.safetensors", "rope.safetensors"]',
            "lengths": "[96]",
            "texts": '["python-docs"]',
            "passages": "2",
            "measurements": '["signatures"]',
        }
        path = folder / "sweep.toml"
        keys = [f"{name} = {value}" for name, value in (plain | given).items() if value]
        path.write_text("\n".join([*keys, *lines]), encoding="utf-8")
        return path

    return write


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "store", LIMIT)
