"""Extrapolation: what happens past the trained length, measured, changed by hand, and reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from pages._shared import address, decoding, draw, export, offered, tables, terms, training
from pages._shared.page import Page, section
from pages.extrapolation import context, controls, exports, live, state, summaries
from pages.extrapolation.reports import reports
from pages.extrapolation.state import LabState
from viz_core import series
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.figures import extrapolation, position_loss
from viz_core.perplexity import PROTOCOLS
from viz_core.perplexity.protocols import POSITIONS
from viz_core.words import mark, say, sentences

PAGE = Page(
    title=mark("Extrapolation"),
    icon=":material/trending_up:",
    order=1,
    about=mark(
        "Perplexity past the trained length: by protocol, by RoPE scaling, and as others report."
    ),
)


def main() -> None:
    st.title(
        say(PAGE.title), anchor=False, help=terms.of("extrapolation", "trained length", "token")
    )
    shipped, damaged = offered.checkpoints()
    for sentence in damaged:
        st.error(sentence)
    table = pd.DataFrame()
    try:
        table = tables.shipped("perplexity")
    except AtlasError as error:
        st.error(str(error))
    known = sorted(set(table.text)) if len(table) else []
    if "lab_protocol" not in st.session_state:  # a first visit, or back from another page
        st.session_state.lab_address = asked = address.asked()
        kept = st.session_state.get("lab", LabState())
        controls.seed(state.decoded(asked)[0] if asked else kept)
    controls.keep()
    names = {"text": known, "report": list(reports()), "live": list(shipped)}
    for sentence in _wrong(st.session_state.lab_address, names):
        st.warning(sentence)
    st.markdown(_about(offered.shipped()[0]))
    controls.shared(known)
    section(by_length, table)
    section(scalings, table)
    mine = st.container()  # filled last: what stands below it does not wait for it
    if st.session_state.lab_protocol != POSITIONS:
        section(by_position, table)
    section(context.others, table)
    section(training.show, offered.shipped()[0])
    section(summaries.gate)
    section(summaries.costs)
    section(context.why)
    _remember()
    with mine:
        section(live.show, shipped)
    _remember()  # its controls too


def _wrong(address: Mapping[str, str], known: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence for each part of `address` that can't be read or isn't among the `known` names.

    Made anew in every run, since the language may have changed.
    """
    return state.decoded(address)[1] + [
        decoding.unknown(name, names, address[name])
        for name, names in known.items()
        if names and address.get(name, names[0]) not in names
    ]


def _about(shipped: dict[str, Checkpoint]) -> str:
    lengths = say(" or ").join(
        f"{n:,}" for n in sorted({c.config.length for c in shipped.values()})
    )
    return say(
        "A model reads texts longer than any that it was trained on: does it gain by them, hold, "
        "or break? All models here were trained alike{at}, on the same texts in the same "
        "order; they differ in their position encoding alone, and **colour is the encoding**, as "
        "on every page. Which tokens are scored, and with how much context, changes the answer: "
        "each chart names its protocol and holds one alone.",
        at=say(", at **L = {lengths} tokens**", lengths=lengths) if lengths else "",
    )


def _remember() -> None:
    """The state into the address, and into the session for when the page is opened again."""
    st.session_state.lab = controls.state()
    address.publish(st.session_state.lab.encoded())


def by_length(table: pd.DataFrame) -> None:
    """All encodings as trained."""
    s = st.session_state
    _curves(series.rows_of(table, s.lab_protocol, s.lab_text), "lab_encodings", say("As trained"))


def scalings(table: pd.DataFrame) -> None:
    """RoPE and ALiBi with other settings than those they were trained with."""
    s = st.session_state
    st.subheader(say("Other settings, without retraining"), anchor=False, help=terms.of("slope"))
    st.markdown(
        say(
            "The same weights under another setting of their encoding. RoPE's scalings slow its "
            "rotations down, so that far tokens meet angles that training showed; ALiBi's exponent "
            "makes its slopes steeper or flatter."
        )
    )
    known = {e: series.settings_of(table, e) for e in ("rope", "alibi")}
    chosen = controls.settings(known["rope"]) if len(known["rope"]) > 1 else known["rope"]
    if known["rope"] and not chosen:
        st.info(say("Choose a scaling to see RoPE's curve under it."))
    left, right = st.columns([1.4, 1], gap="medium")
    with left:
        rope = series.rows_of(table, s.lab_protocol, s.lab_text, "rope", chosen)
        words = _chart(rope, "lab_scalings", say("RoPE rescaled"))
    if words and (lost := [series.label("rope", x) for x in chosen if x not in set(rope.setting)]):
        lacking = say(
            "Not measured under this protocol: {settings}.", settings=say(", ").join(lost)
        )
        words = sentences(words, lacking)
    with right:
        alibi = series.rows_of(table, s.lab_protocol, s.lab_text, "alibi", known["alibi"])
        other = _chart(alibi, "lab_exponents", say("ALiBi exponents"))
    _words(words or other, pd.concat([rope, alibi]), "lab_settings_numbers")


def by_position(table: pd.DataFrame) -> None:
    """All encodings as trained, by the number of tokens before the predicted one."""
    st.subheader(say("By position"), anchor=False, help=terms.of("interval"))
    rows = series.rows_of(table, POSITIONS, st.session_state.lab_text)
    _curves(rows, "lab_positions", say("As trained"), POSITIONS)


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
    name = say(controls.PROTOCOL_NAMES[protocol])
    if rows.empty:
        if not s.lab_settings and key == "lab_scalings":
            return ""  # nothing was asked for
        st.info(
            say(
                "Expected rows for this chart ({what}: {protocol}, {text}) in "
                "`checkpoints/results/perplexity-*.csv`; there are none. Run `make results`.",
                what=what,
                protocol=name.lower(),
                text=s.lab_text,
            )
        )
        return ""
    text = say(series.TEXTS.get(s.lab_text, s.lab_text))
    if protocol == POSITIONS:
        lines = series.by_position(rows)
        figure = position_loss.build(lines, text, s.lab_measure == "perplexity", what)
    else:
        figure = extrapolation.build(
            series.curves(rows), name, say(PROTOCOLS[protocol]), text, s.lab_measure, what
        )
    draw.charts(figure, key=key, height=height)
    export.row(exports.losses(figure, rows, protocol, s.lab_text, s.lab_measure), key)
    return figure.caption + (series.undefined(rows) if protocol == POSITIONS else "")


if __name__ == "__main__":
    main()
