"""A .gguf file of the Llama architecture, through transformers and the package `gguf`.

Weights are unpacked to float32: a file of 4 bits takes eight times its size in memory.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from viz_core.errors import DamagedCheckpoint, UnknownName, UsageError
from viz_core.readers.description import Description, Finding
from viz_core.readers.huggingface import configuration, declared, sizes
from viz_core.readers.huggingface.families import FAMILIES
from viz_core.readers.huggingface.files import finite
from viz_core.readers.huggingface.fitting import Fit, fit
from viz_core.readers.huggingface.foreign import Foreign
from viz_core.readers.huggingface.loading import assemble, empty
from viz_core.readers.intake import called
from viz_core.words import mark, say

ARCHITECTURES = ("llama",)


def describe(path: Path, answers: Mapping[str, object]) -> Description:
    """The checkpoint in the file `path`. Raises DamagedCheckpoint, UsageError without `gguf`."""
    if answers:
        raise UnknownName(
            mark("an answer about this checkpoint"), next(iter(answers)), [say("none")]
        )
    said, count, packed = _header(path)
    config = configuration.build(said)
    with configuration.understood(config.model_type):
        size = sizes.sizes(config, said)
        found = declared.declared(config, said, size, Fit({}, (), ()), "")
    note = Finding(
        mark("numbers"),
        "note",
        say("Stored as {packed}; unpacked to 32 bits when loaded.", packed=packed),
    )
    return Description(
        path=path,
        format="gguf",
        family=config.model_type,
        config=size,
        weights=count,
        findings=(*found, note),
        facts={"config": said},
    )


def load(description: Description, device: torch.device) -> Foreign:
    """The model in float32 on `device`, ready to evaluate. Raises DamagedCheckpoint."""
    path = description.path
    config = configuration.build(description.facts["config"])
    made = FAMILIES[config.model_type].head
    assert made is not None  # of the one architecture above
    model = empty(made, config)
    try:
        read = _opened(path, return_tensors=True, model_to_load=model)
        weights = {name: torch.as_tensor(t) for name, t in read["tensors"].items()}
    except Exception as error:  # whatever the package thinks of a file
        raise _wrong(path, error) from None
    names = fit(model, {n: tuple(t.shape) for n, t in weights.items()}).names
    weights = {place: weights[name] for name, place in names.items()}
    finite(weights, path)
    size = sizes.sizes(config, description.facts["config"])
    return assemble(config, weights, device, made, size)


def _header(path: Path) -> tuple[dict[str, Any], int, str]:
    """(what config.json would say, number of weights, how most of them are stored)."""
    if importlib.util.find_spec("gguf") is None:
        raise UsageError(
            say(
                "Expected the Python package gguf to read a .gguf file; it isn't installed, so run "
                "`pip install gguf` or convert the file to safetensors."
            )
        )
    try:
        reader: Any = importlib.import_module("gguf").GGUFReader(str(path))
        field = reader.fields["general.architecture"]
        kind = bytes(field.parts[field.data[0]]).decode()
        if kind in ARCHITECTURES:
            said = dict(_opened(path, return_tensors=False)["config"])
        count = sum(int(t.n_elements) for t in reader.tensors)
        kinds = [t.tensor_type.name for t in reader.tensors]
    except Exception as error:  # whatever the package thinks of a file
        raise _wrong(path, error) from None
    if kind not in ARCHITECTURES:
        raise UnknownName(mark("a GGUF architecture"), kind[:60], list(ARCHITECTURES))
    said.setdefault("model_type", kind)
    return said, count, max(kinds, key=kinds.count)


def _opened(path: Path, **how: Any) -> dict[str, Any]:
    configuration.library()
    module: Any = importlib.import_module("transformers.modeling_gguf_pytorch_utils")
    found: dict[str, Any] = module.load_gguf_checkpoint(str(path), **how)
    return found


def _wrong(path: Path, error: Exception) -> DamagedCheckpoint:
    why = (str(error).strip().splitlines() or [type(error).__name__])[0][:160].rstrip(".")
    return DamagedCheckpoint(
        say(
            "Expected a GGUF checkpoint in {file}; it can't be read ({why}), so download it again.",
            file=called(path),
            why=why,
        )
    )
