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
    """The checkpoint at `path`, a folder or a .gguf file; None where it is neither.

    No weight is read. Raises DamagedCheckpoint, UnknownName for a family that isn't read or an
    answer to no question, UsageError for a wrong answer.
    """
    from viz_core.readers.huggingface import gguf, loading

    if path.suffix == ".gguf":
        return gguf.describe(path, answers)
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
