"""The shipped measurements in `checkpoints/results/`, each with the command that made it.

A table is a CSV file whose first line is a comment: `# ` and the exact command. A portrait is a
safetensors file, `portrait-ID.safetensors`, with the command among its words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from viz_core import packing
from viz_core.catalogue import SHIPPED
from viz_core.errors import AtlasError
from viz_core.signatures.portrait import Portrait
from viz_core.store import Entry
from viz_core.words import say

FOLDER = SHIPPED / "results"
WORDS = ("setting", "note", "layer")  # columns of words that may be empty, or look like numbers


@dataclass(frozen=True)
class Table:
    """The rows of one file and the command that makes them."""

    command: str
    rows: pd.DataFrame


def read(path: Path) -> Table:
    """The table at `path`; empty cells are NaN, in columns of words "". Raises AtlasError."""
    try:
        with path.open(encoding="utf-8") as file:
            first = file.readline()
            if not first.startswith("# "):
                raise ValueError(say("its first line is no command"))
            rows = pd.read_csv(file, dtype=dict.fromkeys(WORDS, str))
        if not isinstance(rows.index, pd.RangeIndex):
            raise ValueError(say("its rows are longer than its head"))
    except FileNotFoundError:
        raise AtlasError(
            say("Expected a table of results at {path}; there is none.", path=path)
        ) from None
    except (OSError, ValueError) as error:
        raise AtlasError(
            say(
                "Expected a table of results in {file}; it can't be read ({error}), so make it "
                "again with `make results`.",
                file=path.name,
                error=error,
            )
        ) from None
    words = rows.columns[rows.dtypes.map(lambda t: not pd.api.types.is_numeric_dtype(t))]
    rows[words] = rows[words].fillna("")
    return Table(first[2:].strip(), rows)


def opened(path: Path) -> Table:
    """The table at `path` as `sweep --out` wrote it: .csv as in `read`, or .parquet. AtlasError."""
    if path.suffix != ".parquet":
        return read(path)
    try:
        rows = pd.read_parquet(path)
    except (OSError, ValueError, ImportError) as error:
        raise AtlasError(
            say(
                "Expected a table of a sweep in {file}; it can't be read ({error}), so write it "
                "again with `python -m viz_core sweep SPEC --out {file}`.",
                file=path.name,
                error=error,
            )
        ) from None
    return Table(str(rows.attrs.get("command", "")), rows)


def write(path: Path, command: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Writes `rows` to `path`, whole or not at all. Raises AtlasError if the disk refuses."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8", newline="") as file:
            file.write(f"# {command}\n")
            pd.DataFrame(list(rows)).to_csv(file, index=False, float_format="%.7g")
        partial.replace(path)
    except OSError as error:
        raise AtlasError(
            say("Could not write {path} ({error}).", path=path, error=error.strerror or error)
        ) from None


def shipped(kind: str, folder: Path = FOLDER) -> pd.DataFrame:
    """All tables called `kind`*.csv as one, in order of name, with the column `command` added.

    Empty without a file. Raises AtlasError for one that can't be read.
    """
    found = [read(path) for path in sorted(folder.glob(f"{kind}*.csv"))]
    if not found:
        return pd.DataFrame()
    return pd.concat([t.rows.assign(command=t.command) for t in found], ignore_index=True)


@dataclass(frozen=True)
class Kept:
    """A portrait from disk, the command that makes it, and the sha256 of checkpoint and texts."""

    portrait: Portrait
    command: str
    checkpoint: str
    texts: tuple[str, ...]


def write_portrait(folder: Path, name: str, kept: Kept) -> None:
    """Writes portrait-`name`.safetensors, whole or not at all. Raises AtlasError."""
    arrays, about = packing.pack_portrait(kept.portrait)
    words = {
        "command": kept.command,
        "checkpoint_sha256": kept.checkpoint,
        "text_sha256": " ".join(kept.texts),
    }
    path = folder / f"portrait-{name}.safetensors"
    partial = path.with_name(f"{path.name}.partial")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(save(arrays, about | words))
        partial.replace(path)
    except OSError as error:
        raise AtlasError(
            say("Could not write {path} ({error}).", path=path, error=error.strerror or error)
        ) from None


def portraits(folder: Path = FOLDER) -> dict[str, Kept]:
    """All portraits of `folder` by name. Raises AtlasError for one that can't be read."""
    return {
        path.stem.removeprefix("portrait-"): _portrait(path)
        for path in sorted(folder.glob("portrait-*.safetensors"))
    }


def _portrait(path: Path) -> Kept:
    try:
        with safe_open(path, framework="numpy") as file:
            about = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        portrait = packing.unpack_portrait(Entry(arrays, about))
        texts = tuple(about["text_sha256"].split())
        return Kept(portrait, about["command"], about["checkpoint_sha256"], texts)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise AtlasError(
            say(
                "Expected a portrait in {file}; it can't be read ({error}), so make it again with "
                "`make results`.",
                file=path.name,
                error=error,
            )
        ) from None
