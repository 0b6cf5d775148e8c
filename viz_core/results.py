"""The shipped measurements: tables in `checkpoints/results/`, each with the command that made it.

A table is a CSV file whose first line is a comment: `# ` and the exact command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from viz_core.catalogue import SHIPPED
from viz_core.errors import AtlasError

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
                raise ValueError("its first line is no command")
            rows = pd.read_csv(file, dtype=dict.fromkeys(WORDS, str))
        if not isinstance(rows.index, pd.RangeIndex):
            raise ValueError("its rows are longer than its head")
    except FileNotFoundError:
        raise AtlasError(f"Expected a table of results at {path}; there is none.") from None
    except (OSError, ValueError) as error:
        raise AtlasError(
            f"Expected a table of results in {path.name}; it can't be read ({error}), so make it "
            "again with `make results`."
        ) from None
    words = rows.columns[rows.dtypes.map(lambda t: not pd.api.types.is_numeric_dtype(t))]
    rows[words] = rows[words].fillna("")
    return Table(first[2:].strip(), rows)


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
        raise AtlasError(f"Could not write {path} ({error.strerror or error}).") from None


def shipped(kind: str, folder: Path = FOLDER) -> pd.DataFrame:
    """All tables called `kind`*.csv as one, in order of name, with the column `command` added.

    Empty without a file. Raises AtlasError for one that can't be read.
    """
    found = [read(path) for path in sorted(folder.glob(f"{kind}*.csv"))]
    if not found:
        return pd.DataFrame()
    return pd.concat([t.rows.assign(command=t.command) for t in found], ignore_index=True)
