"""The numbers of a sweep as one table: a row per cell, layer and head, or per cell and loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from viz_core import packing
from viz_core.jobs import losses
from viz_core.jobs.cell import Cell
from viz_core.jobs.sweep import Result
from viz_core.signatures import summary, swing
from viz_core.signatures.portrait import Portrait
from viz_core.store import Entry, Store
from viz_core.survey import Survey
from viz_core.words import mark, say

ABOUT = (
    *("checkpoint", "encoding", "trained_length", "step", "tokens_seen", "setting", "text"),
    *("length", "measurement", "status", "reason", "layer", "head"),
)
LAST = ("checkpoint_sha256", "key")
DECAY = ("slope", "reach")  # columns of signatures that "decay" has, by how they begin
LOSSES = (
    *("protocol", "first", "last", "loss", "loss_low", "loss_high", "perplexity", "difference"),
    *("difference_low", "difference_high", "tokens", "documents"),
)
WHOLE = ("step", "tokens_seen", "layer", "head", "first", "last", "tokens", "documents", "passages")
PLAIN = 10000.0 ** (-np.arange(16) / 16)  # RoPE's, as `summary` tests on other encodings
GONE = mark("Its result is not in the store any more, which is full; raise store_gb in the spec.")


def table(results: Sequence[Result], store: Store) -> pd.DataFrame:
    """All rows of all cells, read from `store`; a cell without a result has one row that says why.

    `layer` and `head` count from 1. Columns after them, NaN where a measurement has none:
    - maps: `slope` (nats per token) and, of the first text, `glance_reach` (tokens),
      `glance_ripple` (nats), `glance_sink`, `glance_entropy` as in `viz_core.glance`;
    - signatures: every statistic of `signatures.summary`, and `swing` (nats), the size of a head's
      ripples, with `swing_noise`, what the difference between texts alone would leave; decay: slope
      and reach alone of these;
    - perplexity: losses in nats per token as in `perplexity.Row`.
    """
    return framed([row for result in results for row in rows(result, store)])


def framed(every: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The `rows` of several cells as one table."""
    names = dict.fromkeys((*ABOUT, *(n for row in every for n in row if n not in LAST), *LAST))
    frame = pd.DataFrame([*every], columns=list(names))
    whole = [name for name in WHOLE if name in frame]
    return frame.astype(dict.fromkeys(whole, "Int64"))


def rows(result: Result, store: Store) -> list[dict[str, Any]]:
    """The rows of one cell, read from `store`, as `table` has them."""
    cell, outcome = result.cell, result.outcome
    about = {
        "checkpoint": cell.checkpoint,
        "encoding": cell.encoding,
        "trained_length": cell.trained_length,
        "step": cell.step,
        "tokens_seen": cell.tokens_seen,
        "setting": cell.setting,
        "text": cell.text,
        "length": cell.length,
        "measurement": cell.measurement,
        "status": outcome.status,
        "reason": outcome.reason,
        "checkpoint_sha256": cell.sha256,
        "key": outcome.digest,
    }
    if cell.key is None or outcome.status not in ("found", "computed"):
        return [about]
    entry = store.get(cell.key)
    if entry is None:
        return [about | {"status": "missing", "reason": say(GONE)}]
    return [about | row for row in _numbers(cell, entry)]


def _numbers(cell: Cell, entry: Entry) -> Iterable[dict[str, Any]]:
    if cell.measurement == "perplexity":
        for row in losses.unpack(entry):
            values = asdict(row)
            yield {name: values[name] for name in LOSSES}
        return
    shared = {"passages": cell.how.passages}
    if cell.measurement == "maps":
        yield from (shared | row for row in _glances(packing.unpack(entry)))
        return
    portrait = packing.unpack_portrait(entry)
    for statistics, size in zip(summary.rows(portrait), _swings(portrait), strict=True):
        if cell.measurement == "decay":
            kept = {n: v for n, v in statistics.items() if n.startswith(DECAY)}
            yield shared | {name: statistics[name] for name in ("layer", "head")} | kept
        else:
            yield shared | statistics | size


def _swings(portrait: Portrait) -> Iterable[dict[str, Any]]:
    theta = portrait.theta if len(portrait.theta) else PLAIN
    for curve, error in zip(portrait.curve, portrait.error, strict=True):
        found = swing.measure(curve, error, portrait.pairs, theta)
        for size, noise in zip(found.size, found.noise, strict=True):
            yield {"swing": float(size), "swing_noise": float(noise)}


def _glances(survey: Survey) -> Iterable[dict[str, Any]]:
    for layer, slopes in enumerate(survey.slopes):
        for head, slope in enumerate(slopes):
            found = {n: float(v[layer, head]) for n, v in sorted(survey.statistics.items())}
            glances = {f"glance_{name}": value for name, value in found.items()}
            yield {"layer": layer + 1, "head": head + 1, "slope": float(slope), **glances}
