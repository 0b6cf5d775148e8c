"""Which of a checkpoint's files hold its weights, and so what kind of checkpoint it seems to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from viz_core.errors import AtlasError
from viz_core.readers.intake import headers, names, shards
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.words import damaged, listed, shown
from viz_core.words import say

Kind = Literal["native", "safetensors", "pickle-converted", "huggingface", "gguf"]
Files = Mapping[str, Path]
_NATIVE = "attention_atlas"  # what marks a native file's metadata


@dataclass(frozen=True)
class Chosen:
    """The files of weights to take, by name, and the index over them where they are several."""

    kind: Kind
    files: Files
    index: Path | None = None


def choose_weights(offered: Files, limits: Limits) -> Chosen:
    """Chooses among the `offered` files, by name; safetensors rather than pickles than GGUF.

    Raises AtlasError where there are none or the choice isn't clear, DamagedCheckpoint for a
    header or an index that is wrong.
    """
    safe = _ending(offered, ".safetensors")
    pickled = _ending(offered, names.PICKLES)
    whole = {n: p for n, p in pickled.items() if n.startswith("pytorch_model")}
    if len(safe) == 1 and _is_native(next(iter(safe.values())), limits):
        return Chosen("native", safe)
    if "config.json" in offered and (safe or whole):
        if safe:
            return _shards(safe, offered.get(shards.INDEX), "model.safetensors", limits)
        return _shards(whole, offered.get(shards.PICKLED_INDEX), "pytorch_model.bin", limits)
    groups: tuple[tuple[Kind, Files], ...] = (
        ("safetensors", safe),
        ("pickle-converted", pickled),
        ("gguf", _ending(offered, ".gguf")),
    )
    for kind, group in groups:
        if len(group) == 1:
            return Chosen(kind, group)
        if group:
            raise AtlasError(
                say(
                    "Expected one file of weights, or a Hugging Face folder with its config.json; "
                    "got {n} ({names}), so choose one of them.",
                    n=len(group),
                    names=listed(list(group), 3),
                )
            )
    came = listed(list(offered), 3) or say("the files")
    raise AtlasError(
        say(
            "Expected a file of weights ({endings}); got none among {came}, so add it.",
            endings=", ".join(names.WEIGHTS),
            came=came,
        )
    )


def _is_native(path: Path, limits: Limits) -> bool:
    return _NATIVE in headers.read(path, limits).metadata


def _ending(offered: Files, ends: str | tuple[str, ...]) -> Files:
    return {name: path for name, path in offered.items() if name.endswith(ends)}


def _shards(group: Files, index: Path | None, single: str, limits: Limits) -> Chosen:
    """The files of a Hugging Face folder: those that its index names, or its one file."""
    if index is not None:
        wanted = set(shards.read_index(index, limits).values())
        if missing := sorted(wanted - group.keys()):
            came = say("{names} did not", names=listed(missing, 3))
            raise damaged(index, say("files that came with it"), came, say("add what is missing"))
        return Chosen("huggingface", {n: p for n, p in group.items() if n in wanted}, index)
    if single in group:
        group = {single: group[single]}
    if len(group) > 1:
        raise AtlasError(
            say(
                "Expected an index beside {n} files of weights ({names}); got none, so add {name} "
                "with .index.json after it.",
                n=len(group),
                names=listed(list(group), 3),
                name=shown(single),
            )
        )
    return Chosen("huggingface", group)
