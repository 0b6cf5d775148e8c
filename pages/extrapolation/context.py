"""What stands around the measurements: others' reports, training, and what attention does."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages._shared import draw, export, tables, terms
from pages.extrapolation import controls, exports, reports
from viz_core import published, series
from viz_core.figures import mechanism, reported
from viz_core.words import mark, say

WHY = {  # by measure
    "entropy_share": mark(
        "Attention that spreads as keys are added keeps its share of the most there can be; "
        "attention that keeps to its few keys loses it."
    ),
    "sink_mass": mark(
        "Attention that goes to the first keys, whatever they say: a place to rest, which a "
        "bias against distance takes out of reach."
    ),
    "mean_distance": mark(
        "How far back attention looks. Where it stops growing, a longer text changes "
        "little, for better or worse."
    ),
    "unseen_phases": mark(
        "Slow pairs of channels turn to angles that training never showed. "
        "Scalings slow all pairs, or the slow ones, and leave fewer of them."
    ),
}


def others(table: pd.DataFrame) -> None:
    """A set of published curves beside ours, and where published figures disagree."""
    st.subheader(say("What others report"), anchor=False)
    st.markdown(
        say(
            "Other models, texts and protocols: their levels can't be compared with ours, only how "
            "they change with length. So each curve is divided by its value at its trained length "
            "L."
        )
    )
    report = reports.reports()[controls.report()]
    text = st.session_state.lab_text
    theirs = reports.curves(report)
    ours = reports.ours(table, report, text)
    protocol = say(controls.PROTOCOL_NAMES[report.like]).lower()
    sides = [reported.Side(say("Reported · {protocol}", protocol=report.protocol), theirs)]
    if ours:
        title = say("Measured · {protocol}", protocol=protocol)
        sides.append(reported.Side(title, ours, own=True))
    figure = reported.build(sides, report.caption(say(series.TEXTS.get(text, text)), bool(ours)))
    draw.charts(figure, key="lab_reported", height=400)
    export.row(exports.reported(figure, report.title), "lab_reported")
    st.caption(figure.caption)
    if not ours:
        st.info(
            say(
                "Expected our own curves to stand beside these ({protocol}, {text}); there are "
                "none. Run `make results`.",
                protocol=protocol,
                text=text,
            )
        )
    every = published.rows()
    tables.numbers(every[every.source == report.source_id], "lab_published", say("As quoted"))
    cases = len(published.DISAGREEMENTS)
    with st.expander(say("Where published figures disagree: {cases} cases", cases=cases)):
        for d in published.DISAGREEMENTS:
            names = [published.SOURCES[s] for s in d.sources]
            links = say("; ").join(f"[{n.label}]({n.url})" if n.url else n.label for n in names)
            title, text = say(d.title), say(d.text)
            st.markdown(say("**{title}.** {text} ({links})", title=title, text=text, links=links))


def why() -> None:
    """What attention does as the text grows."""
    st.subheader(
        say("Why"),
        anchor=False,
        help=terms.of("key", "distance", "sink", "entropy", "uniform attention"),
    )
    rows = tables.shipped("mechanism")
    text = st.session_state.lab_text
    if len(rows):
        here = rows[rows.text == text]
        text = text if len(here) else rows.text.iloc[0]
        rows = here if len(here) else rows[rows.text == text]
        plain = rows[rows.setting == ""]
    if rows.empty or plain.empty:
        st.info(
            say(
                "Expected `mechanism-*.csv` in `checkpoints/results`; there is none. "
                "Run `make results`."
            )
        )
        return
    lines = series.mechanisms(plain)
    chosen = [x for x in st.session_state.lab_settings if x]
    varied = series.mechanisms(rows[(rows.encoding == "rope") & rows.setting.isin(chosen)])
    texts = int(series.counts(plain, "texts").max(initial=0))
    figure = mechanism.build(lines, say(series.TEXTS.get(text, text)), texts, varied)
    told = {say(m.title): say(WHY[m.column]) for m in mechanism.MEASURES}
    words = [told[panel.title] for panel in figure.panels]
    draw.charts(figure, key="lab_why", height=330, across=2, words=words)
    export.row(exports.why(figure, rows, text, chosen), "lab_why")
    st.caption(figure.caption + tables.made(rows))
    tables.numbers(rows, key="lab_mechanism")
