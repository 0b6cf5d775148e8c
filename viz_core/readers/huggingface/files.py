"""The files of a Hugging Face folder: its config.json, and where each tensor lies.

Only JSON and safetensors are opened, and of the latter nothing but the headers until `read`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from viz_core.errors import DamagedCheckpoint
from viz_core.readers.intake import called
from viz_core.readers.intake.words import shown
from viz_core.readers.wrappers import unwrapped
from viz_core.words import say

CONFIG_BYTES = 1 << 20  # real ones have a few kilobytes
_TYPES = {"F64", "F32", "F16", "BF16"}
_STEMS = ("model", "pytorch_model", "")  # converted from a .bin, weights keep its name


@dataclass(frozen=True)
class Tensors:
    """What the safetensors files of a folder hold: name to shape, to number type, and to file.

    `stored` has the files' own names where training wrapped them.
    """

    shapes: dict[str, tuple[int, ...]]
    types: dict[str, str]
    files: dict[str, Path]
    stored: dict[str, str]

    def check(self, names: Iterable[str]) -> None:
        """Raises DamagedCheckpoint where one of the tensors `names` isn't of floating point."""
        for name in names:
            if self.types[name] not in _TYPES:
                raise DamagedCheckpoint(
                    say(
                        "Expected weights in 16 or 32 bits; {name} has type {kind}, so save the "
                        "checkpoint without quantisation.",
                        name=shown(name),
                        kind=self.types[name],
                    )
                )

    def count(self, names: Iterable[str]) -> int:
        """How many numbers the tensors `names` have together."""
        return sum(math.prod(self.shapes[name]) for name in names)

    def read(self, names: dict[str, str]) -> dict[str, Tensor]:
        """The tensors that `names` maps to the names they get. Raises DamagedCheckpoint."""
        found = {}
        for file in sorted({self.files[name] for name in names}):
            try:
                with safe_open(file, framework="pt") as opened:
                    for name, new in names.items():
                        if self.files[name] == file:
                            found[new] = opened.get_tensor(self.stored[name])
            except (SafetensorError, OSError) as error:
                raise _unreadable(file, error) from None
        return found


def config(folder: Path) -> dict[str, Any] | None:
    """config.json as a dict, if it is there and names a model_type; None otherwise."""
    file = folder / "config.json"
    if not file.is_file():
        return None
    found = parse(file)
    return found if isinstance(found.get("model_type"), str) else None


def parse(file: Path) -> dict[str, Any]:
    """A JSON file's object. Raises DamagedCheckpoint."""
    try:
        if file.stat().st_size > CONFIG_BYTES:
            raise ValueError
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DamagedCheckpoint(
            say(
                "Expected a JSON object of at most {most} MB in {file}; it is something else, so "
                "download it again.",
                most=CONFIG_BYTES >> 20,
                file=called(file),
            )
        )
    return found


def tensors(folder: Path) -> Tensors:
    """The tensors of the folder's safetensors files, from their headers.

    Raises DamagedCheckpoint where there is none, one can't be read, a shard is missing or two files
    hold the same tensor.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    types: dict[str, str] = {}
    files: dict[str, Path] = {}
    for file in _shards(folder):
        for name, shape, kind in _header(file):
            if name in shapes:
                raise DamagedCheckpoint(
                    say(
                        "Expected each tensor once; {name} is in {one} and in {file}, so keep the "
                        "files of one checkpoint alone.",
                        name=shown(name),
                        one=called(files[name]),
                        file=called(file),
                    )
                )
            shapes[name], types[name], files[name] = shape, kind, file
    stored = unwrapped(shapes, called(folder))
    return Tensors(
        {name: shapes[kept] for name, kept in stored.items()},
        {name: types[kept] for name, kept in stored.items()},
        {name: files[kept] for name, kept in stored.items()},
        stored,
    )


def finite(weights: Mapping[str, Tensor], path: Path) -> None:
    """Raises DamagedCheckpoint where one of `weights` has a number that is none."""
    for name, weight in weights.items():
        if weight.is_floating_point() and not bool(weight.isfinite().all()):
            raise DamagedCheckpoint(
                say(
                    "Expected finite weights in {file}; {name} has NaN or infinite ones, so train "
                    "or convert it again.",
                    file=called(path),
                    name=shown(name),
                )
            )


def _shards(folder: Path) -> list[Path]:
    present = sorted(f for f in folder.glob("*.safetensors") if f.is_file())
    present = [f for f in present if not f.name.startswith("adapter")]
    for stem in _STEMS:
        shards = [f for f in present if f.name.startswith(stem)]
        if shards:
            break
    else:
        raise DamagedCheckpoint(
            say(
                "Expected safetensors weights beside config.json in {folder}; there are none, so "
                "add model.safetensors.",
                folder=called(folder),
            )
        )
    for index in folder.glob("*.safetensors.index.json"):
        named = parse(index).get("weight_map")
        wanted = set(named.values()) if isinstance(named, dict) else set()
        absent = sorted(str(f) for f in wanted if f not in {p.name for p in present})
        if absent and index.name.startswith(shards[0].name.split("-")[0]):
            raise DamagedCheckpoint(
                say(
                    "Expected all shards that {index} names; {name} is missing, so add it.",
                    index=index.name,
                    name=shown(absent[0]),
                )
            )
    return shards


def _header(file: Path) -> Iterator[tuple[str, tuple[int, ...], str]]:
    try:
        with safe_open(file, framework="pt") as opened:
            for name in opened.keys():  # noqa: SIM118
                part = opened.get_slice(name)
                yield name, tuple(part.get_shape()), part.get_dtype()
    except (SafetensorError, OSError) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: Path, error: Exception) -> DamagedCheckpoint:
    return DamagedCheckpoint(
        say(
            "Expected safetensors weights in {file}; they can't be read ({error}), so download the "
            "file again.",
            file=called(file),
            error=error,
        )
    )
