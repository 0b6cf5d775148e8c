"""Figures of what a sweep has: every head's decay, losses by length, and what training brings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from viz_core import plates, series
from viz_core.errors import AtlasError
from viz_core.export.provenance import PROGRAM, VERSION
from viz_core.export.target import Target
from viz_core.figures import extrapolation
from viz_core.figures.spec import FigureSpec
from viz_core.jobs.sweep import Result
from viz_core.jobs.tables import table
from viz_core.perplexity.protocols import PROTOCOLS
from viz_core.plates import emergence
from viz_core.plates.extrapolation import NAMES
from viz_core.render import paper
from viz_core.store import Store
from viz_core.words import say

DECAY = "decay-grid"


def draw(results: Sequence[Result], store: Store, folder: Path, command: str) -> list[Path]:
    """Writes a PDF for each figure that there are results for; the paths.

    Decay: the checkpoints of one training step, as trained, by text and length. Losses: those of a
    text. Emergence: the steps of trainings, by text and length. `command` made them, and stands in
    the files. Raises AtlasError if the disk refuses.
    """
    there = [r for r in results if r.outcome.status in ("found", "computed")]
    files = dict[str, bytes]()
    losses, steps = _losses(there, store, command), _emergences(there, store, command)
    for stem, content in (*_decays(there), *losses, *steps):
        files[f"{stem}.pdf"] = content
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise AtlasError(
            say("Could not write to {folder} ({reason}).", folder=folder, reason=error.strerror)
        ) from None
    return [folder / name for name in files]


def _decays(there: Sequence[Result]) -> Iterator[tuple[str, bytes]]:
    """Rows are told apart by their encoding, so a grid has each encoding once."""
    grids = dict[tuple[str, int, int | None, int], dict[str, str]]()
    for cell in (r.cell for r in there):
        if cell.measurement not in ("decay", "signatures") or cell.setting:
            continue
        for turn in range(len(there)):
            grid = grids.setdefault((cell.text, cell.length, cell.step, turn), {})
            if grid.setdefault(cell.encoding, cell.name) == cell.name:
                break
    passages = there[0].cell.how.passages if there else 0
    for (text, length, step, turn), grid in grids.items():
        at = "" if step is None else f"-step-{step}"
        stem = f"decay-{_plain(text)}-{length}{at}" + f"-{turn + 1}" * (turn > 0)
        options = {"checkpoints": list(grid.values()), "length": length, "text": text}
        one = plates.get(DECAY).export({**options, "texts": passages}, Target(), stem)
        yield stem, one.files("pdf")[f"{stem}.pdf"]


def by_length(rows: pd.DataFrame, protocol: str) -> Iterator[tuple[str, FigureSpec]]:
    """(text, losses by length) for each text of which `rows` of a sweep's table have losses; none
    under a protocol that tells them by position."""
    scored = rows[(rows.measurement == "perplexity") & rows.status.isin(("found", "computed"))]
    if protocol not in NAMES:
        return
    for text, part in scored.assign(note="").groupby("text", sort=False):
        about = say(NAMES[protocol]), say(PROTOCOLS[protocol]), series.text(str(text))
        yield str(text), extrapolation.build(series.curves(_numbered(part)), *about, "loss")


def _losses(there: Sequence[Result], store: Store, command: str) -> Iterator[tuple[str, bytes]]:
    scored = [r for r in there if r.cell.measurement == "perplexity"]
    if scored:
        for text, spec in by_length(table(scored, store), scored[0].cell.how.protocol):
            yield _pdf(spec, "Losses by length", f"losses-{_plain(text)}", command)


def _emergences(there: Sequence[Result], store: Store, command: str) -> Iterator[tuple[str, bytes]]:
    """One figure for each text and length of which there are several steps of a training."""
    steps = [r for r in there if r.cell.step is not None and not r.cell.setting]
    for text, length in dict.fromkeys((r.cell.text, r.cell.length) for r in steps):
        some = [r for r in steps if (r.cell.text, r.cell.length) == (text, length)]
        if len({r.cell.step for r in some}) < 2:
            continue
        rows = _numbered(table(some, store))
        if found := emergence.trainings(rows, text, length):
            spec = emergence.plot(found, rows, ()).spec
            yield _pdf(spec, emergence.PLATE.title, f"emergence-{_plain(text)}-{length}", command)


def _pdf(spec: FigureSpec, title: str, stem: str, command: str) -> tuple[str, bytes]:
    source = json.dumps({"program": PROGRAM, "version": VERSION, "command": command})
    about = paper.About(title, spec.caption, f"{PROGRAM} {VERSION}", source)
    return stem, paper.draw(spec, Target().sheet(), ("pdf",), stem, about)[f"{stem}.pdf"]


def _numbered(rows: pd.DataFrame) -> pd.DataFrame:
    """Numbers as a table from disk has them: a missing one is NaN."""
    whole = rows.select_dtypes("Int64").columns
    return rows.astype(dict.fromkeys(whole, float))


def _plain(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text)
