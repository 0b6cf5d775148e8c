"""What stands around the measurements: others' reports, training, costs, what attention does."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages._kit import draw, export, export_lab, lab, lab_controls, reports, tables
from viz_core import probes, published
from viz_core.catalogue import Checkpoint
from viz_core.figures import mechanism, reported, training_curves
from viz_core.figures.training_curves import largest_rise, least

LEVELS = (4.0, 3.8)  # nats: how soon a training falls below them
WHY = {  # by panel
    "Entropy": "Attention that spreads as keys are added keeps its share of the most there can be; "
    "attention that keeps to its few keys loses it.",
    "Sink": "Attention that goes to the first keys, whatever they say: a place to rest, which a "
    "bias against distance takes out of reach.",
    "Mean distance": "How far back attention looks. Where it stops growing, a longer text changes "
    "little, for better or worse.",
    "RoPE's unseen angles": "Slow pairs of channels turn to angles that training never showed. "
    "Scalings slow all pairs, or the slow ones, and leave fewer of them.",
}
COSTS = {  # by column: title, format, factor
    "length": ("Length", "localized", 1),
    "parameters": ("Parameters", "localized", 1),
    "position_parameters": ("of them for position", "localized", 1),
    "forward_seconds_per_token": ("Forward, µs per token", "%.1f", 1e6),
    "forward_ratio": ("Forward, × NoPE", "%.2f", 1),
    "forward_megabytes": ("Forward memory, MB", "%.1f", 1),
    "forward_memory_ratio": ("Forward memory, × NoPE", "%.2f", 1),
    "training_seconds_per_token": ("Training, µs per token", "%.1f", 1e6),
    "training_ratio": ("Training, × NoPE", "%.2f", 1),
    "training_megabytes": ("Training memory, MB", "%.1f", 1),
    "training_memory_ratio": ("Training memory, × NoPE", "%.2f", 1),
    "note": ("Note", None, 1),
}

GATE = {  # by column of the probes
    "previous_token": "Token before",
    "previous_token_baseline": "Baseline",
    "induction": "Induction",
    "induction_baseline": "Its baseline",
    "loss_1_15": f"Loss at {probes.EARLY}",
    "loss_256_511": f"Loss at {probes.LATE}",
    "passed": "Passed",
}


def others(table: pd.DataFrame) -> None:
    """A set of published curves beside ours, and where published figures disagree."""
    st.subheader("What others report", anchor=False)
    st.markdown(
        "Other models, texts and protocols: their levels can't be compared with ours, only how "
        "they change with length. So each curve is divided by its value at its trained length L."
    )
    report = reports.reports()[lab_controls.report()]
    text = st.session_state.lab_text
    theirs = reports.curves(report)
    ours = reports.ours(table, report, text)
    protocol = lab_controls.PROTOCOL_NAMES[report.like].lower()
    sides = [reported.Side(f"Reported · {report.protocol}", theirs)]
    if ours:
        sides.append(reported.Side(f"Measured · {protocol}", ours, own=True))
    figure = reported.build(sides, report.caption(lab.TEXTS.get(text, text), bool(ours)))
    draw.charts(figure, key="lab_reported", height=400)
    export.row(export_lab.reported(figure, report.title), "lab_reported")
    st.caption(figure.caption)
    if not ours:
        st.info(
            f"Expected our own curves to stand beside these ({protocol}, {text}); there are none. "
            "Run `make results`."
        )
    every = published.rows()
    tables.numbers(every[every.source == report.source_id], "lab_published", "As quoted")
    with st.expander(f"Where published figures disagree: {len(published.DISAGREEMENTS)} cases"):
        for d in published.DISAGREEMENTS:
            names = [published.SOURCES[s] for s in d.sources]
            links = "; ".join(f"[{n.label}]({n.url})" if n.url else n.label for n in names)
            st.markdown(f"**{d.title}.** {d.text} ({links})")


def training(shipped: dict[str, Checkpoint]) -> None:
    """Validation loss by tokens seen, and what it says of convergence and stability."""
    st.subheader("Training", anchor=False)
    known = {c.id: c.config.encoding for c in shipped.values()}
    rows = tables.trainings()
    series = lab.trainings(rows, known)
    if not series:
        st.info(
            "Expected `training.csv` beside the checkpoints; there is none. Run `make checkpoints`."
        )
        return
    figure = training_curves.build(series, LEVELS)
    left, right = st.columns([1.2, 1], gap="medium", vertical_alignment="center")
    with left:
        draw.charts(figure, key="lab_training", height=400)
        export.row(export_lab.training(figure, shipped, set(rows.checkpoint)), "lab_training")
    found = [
        {
            "Encoding": s.name,
            "Last loss": float(s.loss[-1]),
            **{f"Tokens to {level:g}": _millions(least(s, level)) for level in LEVELS},
            "Largest rise": largest_rise(s),
        }
        for s in series
    ]
    with right:
        st.dataframe(
            pd.DataFrame(found),
            hide_index=True,
            column_config={
                "Last loss": st.column_config.NumberColumn(format="%.3f"),
                "Largest rise": st.column_config.NumberColumn(format="%.3f"),
            },
        )
        st.caption(
            "Loss in nats per token. Tokens to: seen at the first validation below that loss. "
            "Largest rise: from one validation to the next; 0 means that the loss only fell."
        )
    st.caption(figure.caption)


def _millions(tokens: float | None) -> str:
    return "not reached" if tokens is None else f"{tokens / 1e6:.2f} M"


def gate() -> None:
    """Whether each model has learnt to use position, without which nothing here means anything."""
    rows = tables.shipped("probes")
    if rows.empty:
        st.info(
            "Expected `probes.csv` in `checkpoints/results`; there is none. Run `make results`."
        )
        return
    st.markdown(
        "Before any comparison: has each learnt to use position? A head that looks at the token "
        "before, a head that looks at what followed an earlier copy (induction), and a loss that "
        "falls along the window. The baselines are what even attention would score."
    )
    shown = {"Encoding": [lab.name(e) for e in rows.encoding]}
    shown |= {title: rows[column] for column, title in GATE.items()}
    three = st.column_config.NumberColumn(format="%.3f")
    numbers = {title: three for column, title in GATE.items() if column != "passed"}
    st.dataframe(pd.DataFrame(shown), hide_index=True, column_config=numbers)
    st.caption(
        f"Passed: one of the scores is at least {probes.TIMES} times its baseline, and the loss at "
        f"positions {probes.LATE} is more than {probes.GAIN:g} nats below that at {probes.EARLY}. "
        "ALiBi's steepest slope alone, without content, passes the first; NoPE can't have an exact "
        "head of the first kind in its first layer (Barbero et al. 2024)." + tables.made(rows)
    )


def costs() -> None:
    """What each encoding takes in time and memory."""
    st.subheader("What each encoding costs", anchor=False)
    rows = tables.shipped("costs")
    if rows.empty:
        st.info("Expected `costs.csv` in `checkpoints/results`; there is none. Run `make results`.")
        return
    rows = rows.sort_values([c for c in ("length",) if c in rows], kind="stable")
    shown, formats = {"Encoding": [lab.name(e) for e in rows.encoding]}, {}
    for column, (title, form, factor) in COSTS.items():
        if column not in rows or (rows[column].isna() | (rows[column] == "")).all():
            continue
        shown[title] = rows[column] if form is None else lab.numbers(rows, column) * factor
        if form:
            formats[title] = st.column_config.NumberColumn(format=form)
    st.dataframe(pd.DataFrame(shown), hide_index=True, column_config=formats)
    st.caption(
        "Models of the shipped size with random weights on the machine that made the table; "
        "ratios are to NoPE, which does nothing with position, in the same run." + tables.made(rows)
    )


def why() -> None:
    """What attention does as the text grows."""
    st.subheader("Why", anchor=False)
    rows = tables.shipped("mechanism")
    text = st.session_state.lab_text
    if len(rows):
        here = rows[rows.text == text]
        text = text if len(here) else rows.text.iloc[0]
        rows = here if len(here) else rows[rows.text == text]
        plain = rows[rows.setting == ""]
    if rows.empty or plain.empty:
        st.info(
            "Expected `mechanism-*.csv` in `checkpoints/results`; there is none. "
            "Run `make results`."
        )
        return
    series = lab.mechanisms(plain)
    chosen = [x for x in st.session_state.lab_settings if x]
    varied = lab.mechanisms(rows[(rows.encoding == "rope") & rows.setting.isin(chosen)])
    texts = int(lab.counts(plain, "texts").max(initial=0))
    figure = mechanism.build(series, lab.TEXTS.get(text, text), texts, varied)
    words = [WHY[panel.title] for panel in figure.panels]
    draw.charts(figure, key="lab_why", height=330, across=2, words=words)
    export.row(export_lab.why(figure, rows, text, chosen), "lab_why")
    st.caption(figure.caption + tables.made(rows))
    tables.numbers(rows, key="lab_mechanism")
