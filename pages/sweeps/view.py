"""One sweep on the page: how far it is, what failed, its figure, and its table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from pages._shared import language
from pages.sweeps import downloads, figures, tables
from pages.sweeps.tables import RUNNING, Seen
from viz_core import series
from viz_core.words import mark, say

AGAIN = 5  # seconds between two looks at a sweep that runs
MOST = 6  # names of cells in a sentence
STATUSES = {
    "found": mark("There"),
    RUNNING: mark("Being computed"),
    "missing": mark("Missing"),
    "failed": mark("Failed"),
    "undefined": mark("Undefined"),
}
MEANINGS = {
    "found": mark("Their results are in the store."),
    RUNNING: mark("A sweep that runs now is at them."),
    "missing": mark("Nobody has begun them, or the run that did was ended."),
    "failed": mark("The last run tried them in vain; it says why below."),
    "undefined": mark("The encoding has no such setting, or ends before that length."),
}


def show(name: str, path: Path) -> None:
    """The sweep called `name`. Raises AtlasError where it can't be planned here."""
    with st.spinner(say("Looking up what there is of {name} …", name=name)):
        seen = tables.see(path)
    st.caption(
        _of(seen),
        help=say(
            "A cell is one measurement of one checkpoint, at one length, on one text and under one "
            "setting."
        ),
    )
    every = AGAIN if RUNNING in seen.counts else None
    st.fragment(_progress, run_every=every)(path, seen)
    _reasons(seen)
    if "found" not in seen.counts:
        st.info(
            say(
                "None of its results is there yet. Compute them with `python -m viz_core sweep "
                "{file}`.",
                file=_file(path),
            )
        )
        return
    with st.spinner(say("Reading the results …")):
        rows = tables.table(seen)
    figures.show(name, rows, seen)
    _table(name, path, rows)


def _of(seen: Seen) -> str:
    """What the sweep is of: how many checkpoints, and every other part by its name."""
    cells = [result.cell for result in seen.results]
    checkpoints = len({cell.name for cell in cells})
    parts = [
        say("{cells:,} cells", cells=len(cells)),
        say("one checkpoint") if checkpoints == 1 else say("{n:,} checkpoints", n=checkpoints),
        *dict.fromkeys(cell.setting for cell in cells if cell.setting),
        *dict.fromkeys(say("{n:,} tokens", n=cell.length) for cell in cells),
        *dict.fromkeys(say(series.TEXTS.get(cell.text, cell.text)) for cell in cells),
        *dict.fromkeys(cell.measurement for cell in cells),
    ]
    return " · ".join(parts)


def _progress(path: Path, before: Seen) -> None:
    """How many cells there are of each status; all of the page follows when that changes."""
    language.recall()
    now = tables.see(path)
    if now.counts != before.counts:
        st.rerun()
    total = len(now.results)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for status, count in now.counts.items():
            st.metric(
                say(STATUSES[status]),
                f"{count:,}",
                help=say(MEANINGS[status]),
                border=True,
                width="content",
            )
        st.button(say("Look again"), icon=":material/refresh:", type="tertiary", key="sweeps_again")
    if RUNNING in now.counts:
        done = total - now.counts[RUNNING] - now.counts.get("missing", 0)
        words = say("{done:,} of {total:,} cells are settled.", done=done, total=total)
        st.progress(done / total, words)


def _reasons(seen: Seen) -> None:
    """Why cells have failed or can't be, each reason once with what it is of."""
    for status, show_it in (("failed", st.error), ("undefined", st.caption)):
        cells = dict[str, list[str]]()
        for result in seen.results:
            if seen.status(result) == status:
                cell = result.cell
                of = f"{cell.checkpoint} ({cell.measurement}, {cell.length:,})"
                cells.setdefault(result.outcome.reason, []).append(of)
        for reason, names in cells.items():
            show_it(say("{cells}: {reason}", cells=_some(names), reason=reason))


def _some(names: Sequence[str]) -> str:
    shown = say(", ").join(f"`{name}`" for name in names[:MOST])
    if len(names) <= MOST:
        return shown
    return say("{names} and {more:,} more", names=shown, more=len(names) - MOST)


def _table(name: str, path: Path, rows: pd.DataFrame) -> None:
    """All rows, with downloads as the command line writes them."""
    st.subheader(say("Table"), anchor=False)
    shown = [c for c in rows if rows[c].notna().any() and (rows[c].astype(str) != "").any()]
    hidden = ("checkpoint_sha256", "key")
    st.dataframe(
        rows[[c for c in shown if c not in hidden]], hide_index=True, key="sweeps_rows", height=320
    )
    command = f"python -m viz_core sweep {_file(path)}"
    with st.container(horizontal=True, gap="small"):
        for kind, mime, made in (
            ("csv", "text/csv", downloads.csv),
            ("parquet", "application/vnd.apache.parquet", downloads.parquet),
        ):
            st.download_button(
                say("Download {kind}", kind="CSV" if kind == "csv" else "Parquet"),
                lambda made=made: made(rows, command),
                file_name=f"attention-atlas-sweep-{name}.{kind}",
                mime=mime,
                icon=":material/download:",
                on_click="ignore",
                key=f"sweeps_{kind}",
            )
    st.caption(say("The same as `{command} --out F.csv` writes.", command=command))


def _file(path: Path) -> str:
    """A spec as commands name it: from the folder of this program where it lies there."""
    root = Path(__file__).parents[2]
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name
