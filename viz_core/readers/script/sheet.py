"""What the header of a state dict says: names, shapes, number types, and a script's own config."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from viz_core.errors import AtlasError, DamagedCheckpoint
from viz_core.readers.intake import called
from viz_core.readers.wrappers import unwrapped
from viz_core.words import say

Shape = tuple[int, ...]

BESIDE = ("config", "beside")  # the metadata's keys for what a script saved beside its weights
NATIVE = "attention_atlas"  # a file with this key is a native checkpoint
LARGEST = 1 << 20  # bytes of a config.json
SETTINGS = ("config.json", "params.json")  # the second is Meta's
_NESTED = (
    *("model_args", "config", "model_config", "args", "hparams", "hyper_parameters"),
    "parameters",
)


@dataclass(frozen=True)
class Sheet:
    """One safetensors file, by its header; tensors are read one by one, when asked for.

    `called` is the file as the person who gave it knows it; `stored` has the file's own names where
    training wrapped them.
    """

    path: Path
    shapes: Mapping[str, Shape]
    types: Mapping[str, str]  # safetensors' names: F32, BF16, BOOL, ...
    config: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: Path | None = None
    called: str = ""
    stored: Mapping[str, str] = field(default_factory=dict)

    def tensor(self, name: str) -> Tensor:
        """The whole tensor, as it is stored."""
        with safe_open(self.path, framework="pt") as file:
            found: Tensor = file.get_tensor(self.stored.get(name, name))
        return found

    def part(self, name: str, *index: int | slice) -> Tensor:
        """tensor[index], of which alone the bytes are read."""
        with safe_open(self.path, framework="pt") as file:
            found: Tensor = file.get_slice(self.stored.get(name, name))[index]
        return found

    def said(self, *keys: str) -> object | None:
        """The first of `keys` that the config has, at its top or in one of its usual sections."""
        sections = [self.config, *(self.config.get(name) for name in _NESTED)]
        for key in keys:
            for section in sections:
                if isinstance(section, Mapping) and section.get(key) is not None:
                    found: object = section[key]
                    return found
        return None


def read(path: Path) -> Sheet | None:
    """The sheet of a safetensors file, or of a folder that holds one and perhaps a tokenizer.

    None for what another reader is for: other files, native checkpoints, Hugging Face folders.
    Raises DamagedCheckpoint for a header or a config that can't be read, AtlasError where there
    is nothing.
    """
    file, tokenizer, config = path, None, dict[str, Any]()
    if path.is_dir():
        files = sorted(path.glob("*.safetensors"))
        if len(files) != 1:
            return None
        (file,), pieces = files, path / "tokenizer.json"
        tokenizer = pieces if pieces.is_file() else None
        for settings in (path / name for name in SETTINGS):
            if settings.is_file() and settings.stat().st_size <= LARGEST:
                config |= _config(settings.read_bytes(), settings.name)
        if "model_type" in config or "architectures" in config:  # Hugging Face's
            return None
    elif path.suffix != ".safetensors":
        return None
    try:
        with safe_open(file, framework="pt") as opened:
            metadata = opened.metadata() or {}
            stored = unwrapped(opened.keys(), called(file))
            slices = {name: opened.get_slice(kept) for name, kept in stored.items()}
            shapes = {name: tuple(s.get_shape()) for name, s in slices.items()}
            types = {name: str(s.get_dtype()) for name, s in slices.items()}
    except FileNotFoundError:
        raise AtlasError(
            say("Expected a checkpoint at {file}; there is no such file.", file=file)
        ) from None
    except (SafetensorError, OSError) as error:
        raise DamagedCheckpoint(
            say(
                "Expected a safetensors checkpoint in {file}; it can't be read ({error}), so save "
                "it again.",
                file=called(file),
                error=error,
            )
        ) from None
    if NATIVE in metadata:
        return None
    for key in BESIDE:
        config |= _config(metadata.get(key, "{}"), called(file))
    return Sheet(file, shapes, types, config, tokenizer, called(file), stored)


def _config(text: str | bytes, name: str) -> dict[str, Any]:
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise DamagedCheckpoint(
            say(
                "Expected a script's settings in {name} as a JSON object; it holds something else, "
                "so save them again or leave them out.",
                name=name,
            )
        )
    return config
