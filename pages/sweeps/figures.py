"""The figure of a sweep: what emerges in training, else losses by length."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages._shared import draw, export
from pages._shared.export import Shown
from pages.sweeps import shipped
from pages.sweeps.tables import Seen
from viz_core import series
from viz_core.export.provenance import Facts, Source
from viz_core.figures.spec import FigureSpec
from viz_core.jobs import drawn
from viz_core.plates import emergence
from viz_core.words import mark, say

PINNED = mark(
    "A figure of a sweep can be exported. To pin it, take the table as a file and draw it with "
    "`python -m viz_core figure emergence --table F.csv`."
)
ALONE = mark("A figure of a sweep can be exported; only what is shipped with the app is pinned.")


def show(name: str, rows: pd.DataFrame, seen: Seen) -> None:
    """The figure that fits, and the choice of what it is of where there is one."""
    steps = rows[rows.step.notna() & (rows.setting == "")]
    texts = [t for t in dict.fromkeys(steps.text) if emergence.trainings(steps, t)]
    if texts:
        _emergence(name, steps, texts)
        return
    protocol = next((r.cell.how.protocol for r in seen.results), "")
    lengths = rows[rows.measurement == "perplexity"].length.nunique()
    found = dict(drawn.by_length(rows, protocol)) if lengths > 1 else {}
    if found:
        text = _chosen("text", list(found), lambda t: say(series.TEXTS.get(t, t)))
        facts = {"protocol": protocol, "lengths": sorted(map(int, set(rows.length)))}
        _figure(found[text], say("Losses by length"), f"{name}-losses", rows, facts, say(ALONE))


def _emergence(name: str, rows: pd.DataFrame, texts: list[str]) -> None:
    text = _chosen("text", texts, lambda t: say(series.TEXTS.get(t, t)))
    lengths = [
        str(n)
        for n in sorted(set(map(int, rows[rows.text == text].length)))
        if emergence.trainings(rows, text, n)
    ]
    length = int(_chosen("length", lengths, lambda n: say("{n:,} tokens", n=int(n))))
    plot = emergence.plot(emergence.trainings(rows, text, length), rows, ())
    title = say(emergence.PLATE.title)
    _figure(plot.spec, title, f"{name}-emergence", rows, plot.facts, say(PINNED))


def _figure(
    spec: FigureSpec, title: str, stem: str, rows: pd.DataFrame, facts: Facts, why: str
) -> None:
    st.subheader(title, anchor=False)
    if len(spec.panels) > 1:
        shipped.figure(spec, "sweeps_figure")
    else:
        draw.charts(spec, key="sweeps_figure", height=420)

    def sources() -> tuple[Source, ...]:
        there = rows[["checkpoint", "checkpoint_sha256"]].drop_duplicates().to_numpy().tolist()
        return tuple(Source("checkpoint", str(n), str(sha)) for n, sha in there if sha)

    page = shipped.PAGE
    export.row(Shown(lambda: spec, title, stem, page, None, why, sources, facts), "sweeps_figure")
    st.caption(spec.caption)


def _chosen(what: str, known: list[str], said) -> str:  # type: ignore[no-untyped-def]
    """A control for `what`, where there is a choice; kept in the session under its name."""
    key = f"sweeps_{what}"
    if st.session_state.get(key) not in known:
        st.session_state[key] = known[0]
    if len(known) > 1:
        label = say("Text") if what == "text" else say("Length")
        st.segmented_control(label, known, format_func=said, key=key, required=True)
    return str(st.session_state[key])
