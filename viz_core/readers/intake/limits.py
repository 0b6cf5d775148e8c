"""What a checkpoint from outside may be at most: `limits.toml`, or the file ATLAS_LIMITS names."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from viz_core.errors import UsageError
from viz_core.readers.intake.words import shown
from viz_core.words import say

_DEFAULT = Path(__file__).resolve().parents[3] / "limits.toml"  # of the repository
_SIZE = re.compile(r"(\d{1,9}) ?(B|KiB|MiB|GiB|TiB)")
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


@dataclass(frozen=True)
class Limits:
    """One value for each name in `limits.toml`, which says what it is for; sizes in bytes."""

    largest_file: int
    largest_upload: int
    files: int
    header: int
    tensors: int
    elements: int
    dimensions: int
    document: int
    values: int
    depth: int
    vocabulary: int
    entries: int
    ratio: int
    growth: int
    seconds: int
    memory: int
    quota: int
    total_quota: int
    hours: int
    longest: int
    device_percent: int
    folders: tuple[Path, ...]
    hub: bool

    @classmethod
    def read(cls, path: Path | None = None) -> Limits:
        """The limits in `path`, or else in `$ATLAS_LIMITS`; what they leave out, by default.

        Raises UsageError for a file that can't be read, an unknown name or a wrong value.
        """
        chosen = path or (Path(named).expanduser() if (named := _named()) else _DEFAULT)
        values = _values(_DEFAULT)
        if chosen != _DEFAULT:
            values |= _values(chosen)
        missing = [field.name for field in fields(cls) if field.name not in values]
        if missing:
            raise UsageError(
                say(
                    "Expected a value for {first!r} in limits.toml; there is none, so restore the "
                    "file that came with the program and put changes where ATLAS_LIMITS points.",
                    first=missing[0],
                )
            )
        return cls(**values)


def _named() -> str:
    return os.environ.get("ATLAS_LIMITS", "")


def _values(path: Path) -> dict[str, Any]:
    """The values in one file, whichever section they stand in."""
    try:
        tables = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise UsageError(
            say(
                "Expected limits in {path}; it can't be read ({why}), so let ATLAS_LIMITS name "
                "another file, or none.",
                path=shown(path),
                why=error.strerror,
            )
        ) from None
    except (ValueError, RecursionError):  # tomllib's and the decoder's errors are ValueErrors
        raise UsageError(
            say(
                "Expected TOML in {path}; it is something else, so compare it with the limits.toml "
                "that came with the program.",
                path=shown(path),
            )
        ) from None
    found: dict[str, Any] = {}
    for name, content in tables.items():
        found |= content if isinstance(content, dict) else {name: content}
    return {name: _value(name, value, path) for name, value in found.items()}


def _value(name: str, value: object, path: Path) -> object:
    """The value as `Limits` holds it."""
    kinds = {field.name: str(field.type) for field in fields(Limits)}
    wanted = say("a whole number above 0, or a size as '2 GiB'")
    match kinds.get(name):
        case "int":
            if isinstance(value, str) and (size := _SIZE.fullmatch(value)):
                value = int(size[1]) * _UNITS[size[2]]
            if type(value) is int and 0 < value < 2**63:
                return value
        case "bool":
            wanted = say("true or false")
            if isinstance(value, bool):
                return value
        case None:
            raise UsageError(
                say(
                    "Expected the limits {names} in {path}; got {name}, so correct the name or "
                    "take it out.",
                    names=", ".join(sorted(kinds)),
                    path=shown(path),
                    name=shown(name),
                )
            )
        case _:
            wanted = say("a list of absolute paths of folders")
            if isinstance(value, list) and all(isinstance(text, str) for text in value):
                folders = tuple(Path(text).expanduser() for text in value)
                if all(folder.is_absolute() for folder in folders):
                    return folders
    raise UsageError(
        say(
            "Expected {wanted} for {name!r} in {path}; got {value}, so correct it.",
            wanted=wanted,
            name=name,
            path=shown(path),
            value=shown(value),
        )
    )
