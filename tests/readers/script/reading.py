"""Saving a module's state dict and holding what the reader makes of it against the module."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from viz_core import kernels
from viz_core.readers import script
from viz_core.readers.description import Description
from viz_core.subject import Subject

IDS = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7])


def saved(
    weights: nn.Module | Mapping[str, Tensor],
    path: Path,
    config: object = None,
) -> Path:
    """A state dict in a file, with `config` in its metadata."""
    state = weights.state_dict() if isinstance(weights, nn.Module) else weights
    metadata = {} if config is None else {"config": json.dumps(config)}
    copies = {name: tensor.detach().clone() for name, tensor in state.items()}  # ties undone
    save_file(copies, path, metadata=metadata)
    return path


def described(path: Path, **answers: object) -> Description:
    found = script.describe(path, answers)
    assert found is not None
    return found


def opened(path: Path, **answers: object) -> tuple[Description, Subject]:
    found = described(path, **answers)
    return found, script.load(found, torch.device("cpu"))


def maps(subject: Subject, ids: Tensor = IDS, offset: int = 0) -> list[Tensor]:
    """Each layer's probabilities [head, query, key], out of what the pass left."""
    found, n = [], len(ids)
    for (q, k, lse), how in subject.passes(ids, kernels.ignore, offset):
        k = k.repeat_interleave(len(q) // len(k), dim=0)
        logits = how.scale * q @ k.transpose(-1, -2) + kernels.cut(how.strip, (0, n), (0, n))
        found.append((logits - lse[..., None]).exp())
    return found


def same(found: Sequence[Tensor], expected: Sequence[Tensor]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


def asked(description: Description) -> set[str]:
    return {q.name for q in description.questions}


def verdicts(description: Description) -> dict[str, str]:
    return {f.about: f.verdict for f in description.findings}
