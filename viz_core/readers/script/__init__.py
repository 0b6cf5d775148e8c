"""A state dict from a script: recognised by names and shapes, with questions for the rest.

The files are safetensors, perhaps made of a pickle elsewhere; a script's settings may stand as
JSON in the metadata under "config". What names, shapes and buffers don't say is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.description import Description, Finding
from viz_core.readers.intake import called
from viz_core.readers.script import audit as _audit
from viz_core.readers.script import given, ours, weights
from viz_core.readers.script.stack import Stack
from viz_core.readers.script.survey import Survey, description, survey
from viz_core.subject import Subject
from viz_core.words import say


def describe(path: Path, answers: Mapping[str, object]) -> Description | None:
    """What the file at `path` (or the folder with one, and a tokenizer) is.

    None where no attention is recognised, and for native and Hugging Face checkpoints. Raises
    DamagedCheckpoint for a file that is recognised in part or contradicts itself, UsageError for
    answers that are out of range or to no question, AtlasError where there is no file.
    """
    found = survey(path, answers)
    return None if found is None else description(path, found)


def load(description: Description, device: torch.device) -> Subject:
    """The model in float32 on `device`, ready to evaluate.

    Raises DamagedCheckpoint for weights that aren't finite, and as `describe` does.
    """
    found = _again(description)
    model = ours.transformer(found) or Stack(
        found.plan,
        weights.read(found.sheet, found.layout, found.plan),
        given.each(found.plan.sizes, found.evidence),
    )
    return model.to(device).eval().requires_grad_(False)


def audit(subject: Subject, description: Description) -> tuple[Finding, ...]:
    """The encoding's numbers in the file, held against its formula."""
    return _audit.findings(_again(description))


def _again(description: Description) -> Survey:
    found = survey(description.path, description.answers)
    if found is None or found.plan.sizes != description.config:
        raise DamagedCheckpoint(
            say(
                "Expected the state dict that was described at {name}; it is another file now, so "
                "open it again.",
                name=called(description.path),
            )
        )
    return found
