"""Extrapolation: what happens past the trained length, measured, changed by hand, and reported."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages._kit import (
    cached,
    draw,
    export,
    export_lab,
    lab,
    lab_context,
    lab_controls,
    lab_live,
    lab_state,
    language,
    tables,
)
from pages._kit.lab_state import LabState
from pages._kit.page import Page, section
from pages._kit.reports import reports
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.figures import extrapolation, position_loss
from viz_core.perplexity import PROTOCOLS
from viz_core.perplexity.protocols import POSITIONS

PAGE = Page(
    title="Extrapolation",
    icon=":material/trending_up:",
    order=1,
    about="Perplexity past the trained length: by protocol, by RoPE scaling, and as others report.",
)


def main() -> None:
    st.title("Extrapolation", anchor=False)
    shipped, damaged = cached.checkpoints()
    for sentence in damaged:
        st.error(sentence)
    table = pd.DataFrame()
    try:
        table = tables.shipped("perplexity")
    except AtlasError as error:
        st.error(str(error))
    known = sorted(set(table.text)) if len(table) else []
    if "lab_protocol" not in st.session_state:  # a first visit, or back from another page
        asked, wrong = st.session_state.get("lab", LabState()), []
        if asked_for := language.asked():
            asked, wrong = lab_state.decoded(asked_for)
            wrong += _unknown({"text": known, "report": list(reports()), "live": list(shipped)})
        st.session_state.lab_wrong = wrong
        lab_controls.seed(asked)
    lab_controls.keep()
    for sentence in st.session_state.lab_wrong:
        st.warning(sentence)
    st.markdown(_about(cached.shipped()[0]))
    lab_controls.shared(known)
    section(by_length, table)
    section(scalings, table)
    mine = st.container()  # filled last: what stands below it does not wait for it
    if st.session_state.lab_protocol != POSITIONS:
        section(by_position, table)
    section(lab_context.others, table)
    section(lab_context.training, cached.shipped()[0])
    section(lab_context.gate)
    section(lab_context.costs)
    section(lab_context.why)
    _remember()
    with mine:
        section(lab_live.show, shipped)
    _remember()  # its controls too


def _unknown(known: dict[str, list[str]]) -> list[str]:
    """A sentence for each name in the address that isn't among the `known` ones of its kind."""
    return [
        f"Expected {name} in the address among {', '.join(names[:6])}"
        f"{' and others' * (len(names) > 6)}; got "
        f"{st.query_params[name][:40]!r}, so another is shown."
        for name, names in known.items()
        if names and st.query_params.get(name, names[0]) not in names
    ]


def _about(shipped: dict[str, Checkpoint]) -> str:
    lengths = sorted({c.config.length for c in shipped.values()})
    words = f", at **L = {' or '.join(f'{n:,}' for n in lengths)} tokens**" if lengths else ""
    return (
        "A model reads texts longer than any that it was trained on: does it gain by them, hold, "
        f"or break? All models here were trained alike{words}, on the same texts in the same "
        "order; they differ in their position encoding alone, and **colour is the encoding**, as "
        "on every page. Which tokens are scored, and with how much context, changes the answer: "
        "each chart names its protocol and holds one alone."
    )


def _remember() -> None:
    """The state into the address, and into the session for when the page is opened again."""
    st.session_state.lab = lab_controls.state()
    language.publish(st.session_state.lab.encoded())


def by_length(table: pd.DataFrame) -> None:
    """All encodings as trained."""
    s = st.session_state
    _curves(lab.rows_of(table, s.lab_protocol, s.lab_text), "lab_encodings", "As trained")


def scalings(table: pd.DataFrame) -> None:
    """RoPE and ALiBi with other settings than those they were trained with."""
    s = st.session_state
    st.subheader("Other settings, without retraining", anchor=False)
    st.markdown(
        "The same weights under another setting of their encoding. RoPE's scalings slow its "
        "rotations down, so that far tokens meet angles that training showed; ALiBi's exponent "
        "makes its slopes steeper or flatter."
    )
    known = {e: lab.settings_of(table, e) for e in ("rope", "alibi")}
    chosen = lab_controls.settings(known["rope"]) if len(known["rope"]) > 1 else known["rope"]
    if known["rope"] and not chosen:
        st.info("Choose a scaling to see RoPE's curve under it.")
    left, right = st.columns([1.4, 1], gap="medium")
    with left:
        rope = lab.rows_of(table, s.lab_protocol, s.lab_text, "rope", chosen)
        words = _chart(rope, "lab_scalings", "RoPE rescaled")
    if words and (lost := [lab.label("rope", x) for x in chosen if x not in set(rope.setting)]):
        words += f" Not measured under this protocol: {', '.join(lost)}."
    with right:
        alibi = lab.rows_of(table, s.lab_protocol, s.lab_text, "alibi", known["alibi"])
        other = _chart(alibi, "lab_exponents", "ALiBi exponents")
    _words(words or other, pd.concat([rope, alibi]), "lab_settings_numbers")


def by_position(table: pd.DataFrame) -> None:
    """All encodings as trained, by the number of tokens before the predicted one."""
    st.subheader("By position", anchor=False)
    rows = lab.rows_of(table, POSITIONS, st.session_state.lab_text)
    _curves(rows, "lab_positions", "As trained", POSITIONS)


def _curves(rows: pd.DataFrame, key: str, what: str, protocol: str = "") -> None:
    """One chart of `rows`, of one protocol (the chosen one), with its caption and its numbers."""
    _words(_chart(rows, key, what, protocol, 460), rows, f"{key}_numbers")


def _words(caption: str, rows: pd.DataFrame, key: str) -> None:
    if caption:
        st.caption(caption + tables.made(rows))
        tables.numbers(rows, key=key)


def _chart(rows: pd.DataFrame, key: str, what: str, protocol: str = "", height: int = 420) -> str:
    """Draws the chart alone and returns its caption; without rows "", and a sentence instead."""
    s = st.session_state
    protocol = protocol or s.lab_protocol
    name = lab_controls.PROTOCOL_NAMES[protocol]
    if rows.empty:
        if not s.lab_settings and key == "lab_scalings":
            return ""  # nothing was asked for
        st.info(
            f"Expected rows for this chart ({what}: {name.lower()}, {s.lab_text}) in "
            "`checkpoints/results/perplexity-*.csv`; there are none. Run `make results`."
        )
        return ""
    text = lab.TEXTS.get(s.lab_text, s.lab_text)
    if protocol == POSITIONS:
        series = lab.by_position(rows)
        figure = position_loss.build(series, text, s.lab_measure == "perplexity", what)
    else:
        figure = extrapolation.build(
            lab.curves(rows), name, PROTOCOLS[protocol], text, s.lab_measure, what
        )
    draw.charts(figure, key=key, height=height)
    export.row(export_lab.losses(figure, rows, protocol, s.lab_text, s.lab_measure), key)
    return figure.caption + (lab.undefined(rows) if protocol == POSITIONS else "")


if __name__ == "__main__":
    main()
