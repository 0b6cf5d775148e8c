"""Figures of what a sweep has: every head's decay, and losses by length."""

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
from viz_core.jobs.sweep import Result
from viz_core.jobs.tables import table
from viz_core.perplexity.protocols import PROTOCOLS
from viz_core.plates.extrapolation import NAMES
from viz_core.render import paper
from viz_core.store import Store

DECAY = "decay-grid"


def draw(results: Sequence[Result], store: Store, folder: Path, command: str) -> list[Path]:
    """Writes a PDF for each figure that there are results for; the paths.

    Decay: the checkpoints of one training step, as trained, by text and length. Losses: those of a
    text. `command` made them, and stands in the files. Raises AtlasError if the disk refuses.
    """
    there = [r for r in results if r.outcome.status in ("found", "computed")]
    files = dict[str, bytes]()
    for stem, content in (*_decays(there), *_losses(there, store, command)):
        files[f"{stem}.pdf"] = content
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise AtlasError(f"Could not write to {folder} ({error.strerror}).") from None
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


def _losses(there: Sequence[Result], store: Store, command: str) -> Iterator[tuple[str, bytes]]:
    scored = [r for r in there if r.cell.measurement == "perplexity"]
    protocol = scored[0].cell.how.protocol if scored else ""
    if protocol not in NAMES:  # bins of positions are no curve by length
        return
    rows = table(scored, store).assign(note="")
    for text, part in rows.groupby("text", sort=False):
        spec = extrapolation.build(
            series.curves(_numbered(part)),
            NAMES[protocol],
            PROTOCOLS[protocol],
            series.TEXTS.get(str(text), str(text)),
            "loss",
        )
        stem = f"losses-{_plain(str(text))}"
        source = json.dumps({"program": PROGRAM, "version": VERSION, "command": command})
        about = paper.About("Losses by length", spec.caption, f"{PROGRAM} {VERSION}", source)
        yield stem, paper.draw(spec, Target().sheet(), ("pdf",), stem, about)[f"{stem}.pdf"]


def _numbered(rows: pd.DataFrame) -> pd.DataFrame:
    """Numbers as a table from disk has them: a missing one is NaN."""
    whole = rows.select_dtypes("Int64").columns
    return rows.astype(dict.fromkeys(whole, float))


def _plain(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text)
