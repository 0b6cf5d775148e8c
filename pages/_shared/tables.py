"""Tables of results on the page: read once per change, and shown with the command behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from pages._shared.columns import labels
from viz_core import catalogue, results
from viz_core.errors import AtlasError
from viz_core.words import say

NEEDED = {  # columns without which nothing can be drawn
    "perplexity": {
        *("checkpoint", "encoding", "trained_length", "setting", "protocol", "text", "length"),
        *("first", "last", "source", "loss", "tokens", "documents"),
    },
    "costs": {"encoding"},
    "probes": {"encoding", "previous_token", "induction", "loss_1_15", "loss_256_511", "passed"},
    "mechanism": {"checkpoint", "encoding", "trained_length", "setting", "text", "length", "layer"},
}
HIDDEN = ("command", "checkpoint_sha256", "text_sha256", "recipe_sha256")


def shipped(kind: str) -> pd.DataFrame:
    """`results.shipped(kind)`, read again only when a file has changed; empty without a file.

    Raises AtlasError for a table that can't be read.
    """
    return _read(kind, _marks(results.FOLDER, f"{kind}*.csv"))


def trainings() -> pd.DataFrame:
    """Every checkpoint's training.csv, with the column `checkpoint`; raises AtlasError."""
    found = []
    for path, _, _ in _marks(catalogue.SHIPPED, "*/training.csv"):
        if (path.parent / "model.safetensors").is_file():  # a training that is over
            found.append(_training(path).assign(checkpoint=path.parent.name))
    if not found:
        return pd.DataFrame(columns=["checkpoint", "tokens", "validation_loss"])
    return pd.concat(found, ignore_index=True)


def _marks(folder: Path, pattern: str) -> tuple[tuple[Path, int, int], ...]:
    found = sorted(folder.glob(pattern))
    return tuple((p, p.stat().st_mtime_ns, p.stat().st_size) for p in found)


@lru_cache(maxsize=8)
def _read(kind: str, marks: tuple[tuple[Path, int, int], ...]) -> pd.DataFrame:
    if not marks:
        return pd.DataFrame()
    rows = results.shipped(kind, marks[0][0].parent)
    if lost := NEEDED.get(kind, set()) - set(rows):
        raise AtlasError(
            say(
                "Expected the columns {columns} in {kind}*.csv; make the tables again with `make "
                "results`.",
                columns=", ".join(sorted(lost)),
                kind=kind,
            )
        )
    return rows


def _training(path: Path) -> pd.DataFrame:
    try:
        rows = pd.read_csv(path)
        return rows[["tokens", "validation_loss"]].dropna()
    except (OSError, ValueError, KeyError) as error:
        raise AtlasError(
            say(
                "Expected tokens and validation_loss in {file}; it can't be read ({error}). Train "
                "it again with `make checkpoints`.",
                file=path.relative_to(path.parents[1]),
                error=error,
            )
        ) from None


def commands(rows: pd.DataFrame) -> list[str]:
    """The commands that made `rows`, each once, in order."""
    return list(dict.fromkeys(rows["command"])) if "command" in rows else []


def made(rows: pd.DataFrame) -> str:
    """The end of a caption: which command made the table."""
    found = commands(rows)
    if len(found) > 1:
        return say(" Made by {count} commands, listed with the numbers.", count=len(found))
    return say(" Made by `{command}`.", command=found[0]) if found else ""


def numbers(rows: pd.DataFrame, key: str, title: str = "", columns: Sequence[str] = ()) -> None:
    """The rows themselves, folded up under a `title` ("Numbers", where there is none), with a
    download and the commands that made them."""
    with st.expander(title or say("Numbers")):
        shown = [c for c in columns or rows.columns if c in rows and c not in HIDDEN]
        shown = [c for c in shown if rows[c].notna().any() and (rows[c].astype(str) != "").any()]
        st.dataframe(rows[shown], hide_index=True, key=f"{key}_rows", column_config=labels(shown))
        st.download_button(
            say("Download as CSV"),
            lambda: rows.to_csv(index=False).encode(),
            file_name=f"attention-atlas-{key.replace('_', '-')}.csv",
            mime="text/csv",
            on_click="ignore",
            key=f"{key}_csv",
        )
        if found := commands(rows):
            st.code("\n".join(found), language="bash")


def headed(columns: Mapping[str, tuple[str, Any, str | None]]) -> None:
    """Columns by heading, each with the heading said, its values, and the format of its numbers.

    What the browser downloads of a table has the headings as they are, English in any language.
    """
    shown = pd.DataFrame({name: values for name, (_, values, _) in columns.items()})
    config = {
        name: st.column_config.NumberColumn(title, format=form)
        if form
        else st.column_config.Column(title)
        for name, (title, _, form) in columns.items()
    }
    st.dataframe(shown, hide_index=True, column_config=config, placeholder=say("None"))
