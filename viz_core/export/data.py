"""The numbers behind a figure: as named arrays, as NPZ, as one long CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from viz_core.figures.spec import Chart, FigureSpec, Heatmap

HEAD = ("panel", "title", "series", "x", "y", "low", "high", "value", "count")


def arrays(spec: FigureSpec) -> dict[str, npt.NDArray[Any]]:
    """Every number that is drawn, by panel (from 1) and name.

    Of a map: value and count [row, column], its rows and columns (token ranges, end excluded) and
    cell. Of a chart's lines, numbered from 1: x and y [point], low and high where it has a band.
    """
    found: dict[str, npt.NDArray[Any]] = {}
    for i, panel in enumerate(spec.panels, 1):
        if isinstance(panel, Heatmap):
            ranges = np.array(panel.rows), np.array(panel.columns), np.array(panel.cell)
            named = zip(("rows", "columns", "cell"), ranges, strict=True)
            found |= {f"panel{i}_value": panel.value, f"panel{i}_count": panel.count}
            found |= {f"panel{i}_{name}": array for name, array in named}
            continue
        for j, line in enumerate(panel.lines, 1):
            found |= {f"panel{i}_line{j}_x": line.x, f"panel{i}_line{j}_y": line.y}
            if line.band is not None:
                found[f"panel{i}_line{j}_low"] = line.band.low
                found[f"panel{i}_line{j}_high"] = line.band.high
    return found


def npz(spec: FigureSpec, about: str) -> bytes:
    """`arrays`, and `about` (JSON) as one more; read it with `numpy.load`, nothing is pickled."""
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **arrays(spec), about=np.array(about))
    return out.getvalue()


def table(spec: FigureSpec, command: str, about: str) -> str:
    """One row per point of a line (x, y, low, high), and per cell of a map that holds a pair (its
    first key as x, its first query as y, value, count). Two comments come first: the command, and
    `about` (JSON in one line)."""
    out = io.StringIO(newline="")
    out.write(f"# {command}\n# {about}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    for i, panel in enumerate(spec.panels, 1):
        rows = _cells(panel) if isinstance(panel, Heatmap) else _points(panel)
        writer.writerows((i, panel.title, *row) for row in rows)
    return out.getvalue()


def _cells(panel: Heatmap) -> Iterator[tuple[object, ...]]:
    down, across = np.nonzero(panel.count)
    keys, queries = panel.columns[0] + panel.cell * across, panel.rows[0] + panel.cell * down
    cells = panel.value[down, across], panel.count[down, across]
    for key, query, value, count in zip(keys, queries, *cells, strict=True):
        yield "", key, query, "", "", value, count


def _points(panel: Chart) -> Iterator[tuple[object, ...]]:
    for line in panel.lines:
        band = line.band
        ends = (band.low, band.high) if band else (np.full(len(line.x), np.nan),) * 2
        for point in zip(line.x, line.y, *ends, strict=True):
            yield line.name, *("" if np.isnan(v) else v for v in point), "", ""
