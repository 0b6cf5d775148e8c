"""The native checkpoint: one safetensors file, float16, its description as JSON in the metadata."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from viz_core.encodings import get
from viz_core.errors import AtlasError, DamagedCheckpoint
from viz_core.model import ModelConfig, Transformer

FORMAT = 1
_KEY = "attention_atlas"


def save(model: Transformer, path: Path, facts: dict[str, Any]) -> None:
    """Writes `model` and `facts` (anything JSON: recipe, losses, hashes) to `path`, atomically."""
    weights = {
        n: t.detach().to("cpu", torch.float16) for n, t in model.state_dict().items()
    }
    description = {"format": FORMAT, "config": asdict(model.config), **facts}
    partial = path.with_suffix(".partial")
    save_file(
        weights, partial, metadata={_KEY: json.dumps(description, sort_keys=True)}
    )
    partial.replace(path)


def describe(path: Path) -> tuple[ModelConfig, dict[str, Any]]:
    """(sizes and encoding, all facts) from the header alone; weights are not read.

    Raises DamagedCheckpoint when the file is no native checkpoint or its description is wrong.
    """
    try:
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get(_KEY)
    except FileNotFoundError:
        raise AtlasError(
            f"Expected a checkpoint at {path}; there is no such file."
        ) from None
    except (SafetensorError, OSError) as error:
        raise DamagedCheckpoint(
            f"Expected a safetensors checkpoint in {path.name}; it can't be read ({error}). "
            "Download or train it again."
        ) from None
    if text is None:
        raise DamagedCheckpoint(
            f"Expected a native checkpoint; {path.name} is a safetensors file without the "
            f"'{_KEY}' description. Save it with `python -m viz_core train`."
        )
    try:
        facts = json.loads(text)
        config = ModelConfig(**facts["config"])
        sizes = (
            config.layers,
            config.heads,
            config.width,
            config.vocabulary,
            config.length,
        )
        if facts["format"] != FORMAT or not all(
            isinstance(n, int) and n > 0 for n in sizes
        ):
            raise ValueError
        if config.width % (2 * config.heads):
            raise ValueError
        get(config.encoding).settings(config.parameters)
    except AtlasError as error:
        raise DamagedCheckpoint(
            f"{path.name} describes its encoding wrongly: {error}"
        ) from None
    except (ValueError, TypeError, KeyError):
        raise DamagedCheckpoint(
            f"Expected format {FORMAT} with whole sizes in the description of {path.name}; "
            "it says something else. Save the checkpoint again with this version."
        ) from None
    return config, facts


def load(path: Path) -> tuple[Transformer, dict[str, Any]]:
    """(model in float32, ready to evaluate; facts). Raises DamagedCheckpoint."""
    config, facts = describe(path)
    with torch.device("meta"):
        expected = Transformer(config).state_dict()
    with safe_open(path, framework="pt") as file:
        found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        if found != {n: tuple(t.shape) for n, t in expected.items()}:
            wrong = sorted(
                set(found.items()) ^ {(n, tuple(t.shape)) for n, t in expected.items()}
            )
            raise DamagedCheckpoint(
                f"The weights in {path.name} don't fit its description, first at "
                f"{wrong[0][0]!r} {list(wrong[0][1])}; save the checkpoint again."
            )
        weights = {name: file.get_tensor(name).float() for name in found}
    if not all(bool(w.isfinite().all()) for w in weights.values()):
        raise DamagedCheckpoint(
            f"Expected finite weights in {path.name}; some are NaN or infinite. Train it again."
        )
    model = Transformer(config)
    model.load_state_dict(weights)
    return model.eval().requires_grad_(False), facts


def sha256(path: Path) -> str:
    """The hash of the file's bytes: the identity of a checkpoint."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
