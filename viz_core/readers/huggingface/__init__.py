"""Checkpoints of the transformers library: a folder of config.json and safetensors, or a GGUF."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from viz_core.readers.description import Description, Finding
from viz_core.readers.huggingface.foreign import Foreign
from viz_core.subject import Subject

# transformers takes a second to import: nothing here does before a checkpoint is opened


def describe(path: Path, answers: Mapping[str, object]) -> Description | None:
    """The checkpoint at `path`, a folder or a .gguf file (in it alone); None where it is neither.

    No weight is read. Raises DamagedCheckpoint, UnknownName for a family that isn't read or an
    answer to no question, UsageError for a wrong answer.
    """
    from viz_core.readers.huggingface import gguf, loading

    packed = _packed(path)
    if packed is not None:
        return gguf.describe(packed, answers)
    return loading.describe(path, answers)


def load(description: Description, device: torch.device) -> Foreign:
    """The model in float32 on `device`, ready to evaluate. Raises DamagedCheckpoint."""
    from viz_core.readers.huggingface import gguf, loading

    if description.format == "gguf":
        return gguf.load(description, device)
    return loading.load(description, device)


def audit(subject: Subject, description: Description) -> tuple[Finding, ...]:
    """What the loaded model says to its description."""
    from viz_core.readers.huggingface import weighed

    return weighed.audit(subject, description)


def _packed(path: Path) -> Path | None:
    """The .gguf file that `path` is, or that is the one file of weights in it."""
    if path.suffix == ".gguf" and not path.is_dir():
        return path
    found = [] if not path.is_dir() or any(path.glob("*.safetensors")) else [*path.glob("*.gguf")]
    return found[0] if len(found) == 1 else None
