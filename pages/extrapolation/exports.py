"""How the figures of Extrapolation leave it: the plates that draw the same, and their tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd

from pages._shared import export_sources
from pages._shared.export import Shown
from viz_core import series
from viz_core.catalogue import Checkpoint
from viz_core.export.provenance import Source
from viz_core.figures.spec import FigureSpec
from viz_core.perplexity.protocols import POSITIONS
from viz_core.plates.tray import Pin
from viz_core.types import Sample
from viz_core.words import mark

PAGE = "extrapolation"
REPORTED = mark(
    "Curves that others published stand beside ours on this page alone: the figure can be exported."
)
OWN = mark(
    "A measurement of your own can be exported; only what is shipped with the app is pinned."
)


def losses(figure: FigureSpec, rows: pd.DataFrame, protocol: str, text: str, measure: str) -> Shown:
    """A chart of losses by length or by position, from `rows` of the shipped tables."""
    facts = {
        "trained_length": int(rows.trained_length.iloc[0]),
        "lengths": sorted(map(int, set(rows.length))),
        "protocol": protocol,
        "measure": measure,
        "interval": "95 % bootstrap over documents",
    }
    where = protocol == POSITIONS
    said = {} if where else {"protocol": protocol}
    pin = Pin.of(
        "position-loss" if where else "extrapolation",
        checkpoints=_ordered(rows),
        scaling=[setting or "none" for setting in dict.fromkeys(rows.setting)],
        # positions have no difference from a shorter length: then the page shows losses
        measure="loss" if where and measure == "difference" else measure,
        text=text,
        **said,
    )
    title = mark("Losses by position") if where else mark("Losses by length")
    made = partial(export_sources.tables, "perplexity")
    return Shown(lambda: figure, title, f"losses-{protocol}", PAGE, pin, "", made, facts)


def reported(figure: FigureSpec, source: str) -> Shown:
    """Others' curves beside ours."""
    facts = {"reported_by": source, "values": "over that at the trained length"}
    made = partial(export_sources.tables, "perplexity")
    return Shown(
        lambda: figure, mark("What others report"), "reported", PAGE, None, REPORTED, made, facts
    )


def why(figure: FigureSpec, rows: pd.DataFrame, text: str, varied: Sequence[str]) -> Shown:
    """What attention does as the text grows; `varied` are settings of RoPE beside it."""
    facts = {
        "trained_length": int(rows.trained_length.iloc[0]),
        "lengths": sorted(map(int, set(rows.length))),
        "values": "means of all layers and heads",
    }
    pin = Pin.of(
        "mechanism",
        checkpoints=_ordered(rows[rows.setting == ""]),
        scaling=["none", *varied],
        text=text,
    )
    made = partial(export_sources.tables, "mechanism")
    title = mark("What attention does as the text grows")
    return Shown(lambda: figure, title, "mechanism", PAGE, pin, "", made, facts)


def live(
    figure: FigureSpec, checkpoint: Checkpoint, setting: str, samples: Sequence[Sample]
) -> Shown:
    """A measurement of the visitor's own."""
    made: tuple[Source, ...] = export_sources.checkpoints([checkpoint])
    made += tuple(Source("text", s.id, s.sha256) for s in samples)
    facts = {
        "trained_length": checkpoint.config.length,
        "setting": setting or "as trained",
        "protocol": "fixed-targets",
    }
    title = mark("Losses by length, measured here")
    return Shown(lambda: figure, title, "losses-own", PAGE, None, OWN, lambda: made, facts)


def _ordered(rows: pd.DataFrame) -> list[str]:
    """The checkpoints of a table, in the order of every list."""
    known = dict(zip(rows.checkpoint, rows.encoding, strict=True))
    return sorted(known, key=lambda name: (series.place(known[name]), name))
