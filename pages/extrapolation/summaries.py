"""The tables of Extrapolation: headings in the visitor's language over numbers of the results."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from pages._shared import tables, terms
from viz_core import encodings, probes, series
from viz_core.words import mark, say

COSTS = {  # by column: title, format, factor
    "length": (mark("Length"), "localized", 1),
    "parameters": (mark("Parameters"), "localized", 1),
    "position_parameters": (mark("of them for position"), "localized", 1),
    "forward_seconds_per_token": (mark("Forward, µs per token"), "%.1f", 1e6),
    "forward_ratio": (mark("Forward, × NoPE"), "%.2f", 1),
    "forward_megabytes": (mark("Forward memory, MB"), "%.1f", 1),
    "forward_memory_ratio": (mark("Forward memory, × NoPE"), "%.2f", 1),
    "training_seconds_per_token": (mark("Training, µs per token"), "%.1f", 1e6),
    "training_ratio": (mark("Training, × NoPE"), "%.2f", 1),
    "training_megabytes": (mark("Training memory, MB"), "%.1f", 1),
    "training_memory_ratio": (mark("Training memory, × NoPE"), "%.2f", 1),
    "note": (mark("Note"), None, 1),
}

GATE = {  # by column of the probes: title, format
    "previous_token": (mark("Token before"), "%.3f"),
    "previous_token_baseline": (mark("Baseline"), "%.3f"),
    "induction": (mark("Induction"), "%.3f"),
    "induction_baseline": (mark("Its baseline"), "%.3f"),
    "loss_1_15": (mark("Loss at 1-15"), "%.3f"),
    "loss_256_511": (mark("Loss at 256-511"), "%.3f"),
    "passed": (mark("Passed"), None),
}


def gate() -> None:
    """Whether each model has learnt to use position, without which nothing here means anything."""
    rows = tables.shipped("probes")
    if rows.empty:
        st.info(
            say(
                "Expected `probes.csv` in `checkpoints/results`; there is none. Run `make results`."
            )
        )
        return
    st.markdown(
        say(
            "Before any comparison: has each learnt to use position? A head that looks at the "
            "token before, a head that looks at what followed an earlier copy (induction), and a "
            "loss that falls along the window. The baselines are what even attention would score."
        ),
        help=terms.of("attention", "head", "layer", "induction"),
    )
    scores = {title: (say(title), rows[column], form) for column, (title, form) in GATE.items()}
    tables.headed(_encodings(rows) | scores)
    words = say(
        "Passed: one of the scores is at least {times} times its baseline, and the loss at "
        "positions {late} is more than {gain:g} nats below that at {early}. "
        "ALiBi's steepest slope alone, without content, passes the first; NoPE can't have an exact "
        "head of the first kind in its first layer (Barbero et al. 2024).",
        times=probes.TIMES,
        late=probes.LATE,
        gain=probes.GAIN,
        early=probes.EARLY,
    )
    st.caption(words + tables.made(rows))


def costs() -> None:
    """What each encoding takes in time and memory."""
    st.subheader(say("What each encoding costs"), anchor=False)
    rows = tables.shipped("costs")
    if rows.empty:
        st.info(
            say("Expected `costs.csv` in `checkpoints/results`; there is none. Run `make results`.")
        )
        return
    rows = rows.sort_values([c for c in ("length",) if c in rows], kind="stable")
    shown = _encodings(rows)
    for column, (title, form, factor) in COSTS.items():
        if column not in rows or (rows[column].isna() | (rows[column] == "")).all():
            continue
        values = (
            series.numbers(rows, column) * factor if form else rows[column].map(encodings.retold)
        )
        shown[title] = say(title), values, form
    tables.headed(shown)
    words = say(
        "Models of the shipped size with random weights on the machine that made the table; "
        "ratios are to NoPE, which does nothing with position, in the same run."
    )
    st.caption(words + tables.made(rows))


def _encodings(rows: pd.DataFrame) -> dict[str, tuple[str, Any, str | None]]:
    return {"Encoding": (say("Encoding"), [series.name(e) for e in rows.encoding], None)}
