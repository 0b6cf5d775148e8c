"""Cells one after the other, in this process."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.jobs.cell import Cell, Outcomes, Tick
from viz_core.jobs.work import Work


def run(cells: Sequence[Cell], work: Work, tick: Tick) -> Outcomes:
    """The outcome of each cell, in order. `tick` is called within each, too, and may raise."""
    for cell in cells:
        tick()
        yield work(cell, lambda done: tick())
