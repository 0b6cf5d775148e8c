"""Checkpoint files in: ours, a state dict from a script, a Hugging Face folder.

Each reader is a module with three functions. `describe(path, answers)` says what a file is from
its headers alone, or None where it is another reader's; `load(description, device)` makes a
`Subject` of it; `audit(subject, description)` holds its weights against what it says.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import torch
from tokenizers import Tokenizer

from viz_core.errors import AtlasError, DamagedCheckpoint
from viz_core.readers.description import Description, Finding
from viz_core.readers.intake import called
from viz_core.readers.native import sha256 as of_file
from viz_core.subject import Subject
from viz_core.words import say

_READERS = ("native", "script", "huggingface")  # the narrowest first
_READ = ("*.safetensors", "*.json", "*.gguf")  # what a folder's identity is made of


def describe(path: Path, answers: Mapping[str, object] | None = None) -> Description:
    """What the checkpoint at `path` (a file or a folder) is; no weight is read.

    `answers` are what a person says to a description's `questions`. Raises AtlasError where there
    is nothing, DamagedCheckpoint where it can't be read, UsageError for a wrong answer.
    """
    try:
        there = any(f for p in _READ for f in path.glob(p)) if path.is_dir() else path.is_file()
    except (OSError, ValueError):  # a name too long to be one, or with a zero in it
        there = False
    if not there:
        raise AtlasError(say("Expected a checkpoint file at {path}; there is none.", path=path))
    for name in _READERS:
        found: Description | None = _module(name).describe(path, answers or {})
        if found is not None:
            return found
    raise DamagedCheckpoint(
        say(
            "Expected a checkpoint in {file}; it is neither of this project's format, nor a state "
            "dict of a known layout, nor a Hugging Face folder (config.json and .safetensors).",
            file=called(path),
        )
    )


def load(description: Description, device: torch.device | str = "cpu") -> Subject:
    """The model in float32 on `device`, ready to evaluate. Raises DamagedCheckpoint."""
    loaded: Subject = _of(description).load(description, torch.device(device))
    return loaded


def audit(subject: Subject, description: Description) -> tuple[Finding, ...]:
    """What the description says, and what the weights say to it."""
    more: tuple[Finding, ...] = _of(description).audit(subject, description)
    return (*description.findings, *more)


def tokenizer(path: Path) -> Tokenizer | None:
    """The tokenizer in the tokenizer.json `path`, or that other files of a checkpoint make.

    It puts around a text what the model's own does. None where the checkpoint at `path` has none.
    """
    found: Tokenizer | None = _module("huggingface.pieces").tokenizer(path)
    return found


def sha256(description: Description) -> str:
    """The identity of a checkpoint: the hash of its file, or of all files that are read.

    With answers to its questions it is another checkpoint.
    """
    path = description.path
    if path.is_file() and not description.answers:
        return of_file(path)
    files = sorted(f for p in _READ for f in path.glob(p)) if path.is_dir() else [path]
    words = [[f.name, of_file(f)] for f in files]
    about = json.dumps([words, dict(description.answers)], sort_keys=True)
    return hashlib.sha256(about.encode()).hexdigest()


def _of(description: Description) -> ModuleType:
    names = {"native": "native", "state-dict": "script"}
    return _module(names.get(description.format, "huggingface"))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")
