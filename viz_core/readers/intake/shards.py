"""The index of a checkpoint in several files: which tensor lies in which, by plain names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from viz_core.readers.intake import documents, headers
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.words import damaged, shown
from viz_core.words import say

INDEX = "model.safetensors.index.json"
PICKLED_INDEX = "pytorch_model.bin.index.json"


def read_index(path: Path, limits: Limits) -> dict[str, str]:
    """File name by tensor name, of an index as transformers writes it.

    Raises DamagedCheckpoint for what is none: a library joins these names to the folder's, and one
    with ".." would lead out of it. So each is a plain name.
    """
    found = documents.read_json(path, limits)
    names = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(names, dict) or not 0 < len(names) <= limits.tensors:
        raise damaged(
            path,
            say("the files of 1 to {most:,} tensors", most=limits.tensors),
            say("there is something else"),
        )
    for file in names.values():
        if not isinstance(file, str) or not file.isprintable() or set(file) & set("/\\:"):
            raise damaged(path, say("plain names of files"), say("one is {name}", name=shown(file)))
    return names


def check_index(names: Mapping[str, str], files: Mapping[str, Path], limits: Limits) -> None:
    """Raises DamagedCheckpoint unless each tensor of an index is in the file that it names.

    `names`: as from `read_index`. `files`: the safetensors files that are there, by name.
    """
    held: dict[str, set[str]] = {}
    for tensor, file in names.items():
        if file not in files:
            raise damaged(
                INDEX,
                say("files that came with it in {name}", name=shown(file)),
                say("it is missing"),
                say("add it"),
            )
        if file not in held:
            held[file] = set(headers.tensors(files[file], limits))
        if tensor not in held[file]:
            raise damaged(
                file,
                say("the tensor {name} that the index promises", name=shown(tensor)),
                say("it isn't there"),
            )


def write_index(path: Path, files: Mapping[str, Path], limits: Limits) -> None:
    """An index of the safetensors `files` (by name), for those that were made of pickles."""
    held = {name: headers.tensors(file, limits) for name, file in files.items()}
    names = {tensor: name for name, tensors in held.items() for tensor in tensors}
    size = sum(file.stat().st_size for file in files.values())
    path.write_text(json.dumps({"metadata": {"total_size": size}, "weight_map": names}))
