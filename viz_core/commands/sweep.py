"""`sweep`: many checkpoints, settings, lengths and texts, of which only the missing is computed."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from viz_core import journal, results, texts
from viz_core.commands import _shared
from viz_core.errors import AtlasError, UsageError
from viz_core.jobs import drawn, planning, spec, sweep, tables
from viz_core.jobs.sweep import Result
from viz_core.jobs.work import Work

ENDINGS = (".parquet", ".csv")


def run(options: argparse.Namespace) -> None:
    """What came of each cell, as a table or as JSON; the numbers into `--out`.

    Raises AtlasError, once all is written, where a cell has failed.
    """
    _shared.check_out(options.out)
    if options.out and options.out.suffix not in ENDINGS:
        raise UsageError(f"Expected --out to end in .parquet or .csv; got {options.out.name}.")
    asked = spec.read(options.spec)
    kind = options.executor or asked.limits.kind
    workers = options.workers or asked.limits.workers
    if options.workers and kind != "local":
        raise UsageError(f"Expected --workers with the executor local; got it with {kind}.")
    if texts.HELD_OUT in asked.texts:
        _shared.fetch_held_out()
    cells = planning.plan(asked)
    work = Work(journal.store_folder(), int(asked.store_gb * 2**30))
    if options.look:
        found = sweep.look(cells, work.store())
    else:
        limits = replace(asked.limits, kind=kind, workers=workers)
        try:
            with _shared.watched("cells") as progress:
                found = sweep.run(cells, work, limits, progress)
        except KeyboardInterrupt:
            raise AtlasError(
                f"Stopped; the results so far are kept in {work.folder}: run the same command "
                "again to go on."
            ) from None
    command = _shared.command_line(sys.argv[1:])
    if options.out or options.json:
        frame = tables.table(found, work.store())
    if options.out:
        _write(options.out, command, frame)
    figures = drawn.draw(found, work.store(), options.figures, command) if options.figures else []
    if options.json:
        rows = json.loads(frame.to_json(orient="records", double_precision=15))
        told = {"command": command, "cells": _counted(found), "figures": list(map(str, figures))}
        _shared.print_json({**told, "rows": rows})
    else:
        _print(found)
        for path in figures:
            print(path)
    if failed := [r for r in found if r.outcome.status == "failed"]:
        raise AtlasError(
            f"{len(failed)} of {len(found)} cells failed, the first, {failed[0].cell.checkpoint} "
            f"at {failed[0].cell.length:,} tokens, because: {failed[0].outcome.reason}"
        )


def _counted(found: Sequence[Result]) -> dict[str, int]:
    return dict(Counter(r.outcome.status for r in found))


def _write(path: Path, command: str, frame: pd.DataFrame) -> None:
    if path.suffix == ".csv":
        results.write(path, command, frame.astype(object).to_dict("records"))
        return
    frame.attrs["command"] = command  # pandas keeps it among the words of the file
    try:
        with _shared.written(path) as file:
            frame.to_parquet(file, index=False)
    except ImportError:
        raise AtlasError(
            "Expected pyarrow to write Parquet; it isn't installed. Install it, or write a .csv."
        ) from None


def _print(found: Sequence[Result]) -> None:
    names = ("checkpoint", "setting", "text", "measurement", "length", "status")
    table = [[*names, ""]]
    for r in found:
        c = r.cell
        line = [c.checkpoint, c.setting or "-", c.text, c.measurement, f"{c.length:,}"]
        table.append([*line, r.outcome.status, r.outcome.reason])
    _shared.print_table(table, left=7)
    print(", ".join(f"{count} {status}" for status, count in _counted(found).items()))
