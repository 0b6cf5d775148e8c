"""Which tokens a prediction needs: told in words, and shown on the text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pages._kit import attrib_cached, attrib_text, attrib_wait, tables
from pages._kit.attrib_question import Question
from pages._kit.attrib_state import AttributionState
from viz_core.attribution import METHODS, TokenAttribution

UNITS = {
    "log-probability": "nats of log-probability",
    "logit": "nats of the logit",
    "difference": "nats of the difference",
}


def show(asked: Question, state: AttributionState) -> None:
    """The text on its tints, and how far the sum can be trusted. Raises AtlasError."""
    with attrib_wait.waiting(attrib_wait.wanted(asked, state), "attrib_tokens") as one:
        report = one.watch("attributions of tokens")
        found = attrib_cached.to_tokens(asked, state.method, state.steps, report)
    st.markdown(_sentence(asked, found))
    if found.warning:
        st.warning(f"{found.warning} Choose more.")
    unit = UNITS[asked.target.kind]
    attrib_text.show(
        asked.labels, found.value, asked.target.queries, unit, "attrib_spoken", attrib_wait.pick
    )
    method = METHODS[state.method]
    st.caption(
        f"{method[0].upper()}{method[1:]}. Brown-red tokens add, blue ones take away"
        f"{'; the outlined one is where it is asked' * (len(asked.target.queries) == 1)}. Nothing "
        "reads the faint ones at the end. Positions are added to the token vectors afterwards: "
        "this says which token matters at a place, not that some token stands there."
    )
    tables.numbers(_rows(asked, found), "attrib_tokens", "Numbers, token by token")


def _sentence(asked: Question, found: TokenAttribution) -> str:
    gap = found.output - found.baseline
    words = (
        f"{asked.words[0].upper()}{asked.words[1:]} is **{nats(found.output)}**; with the mean "
        f"token vector at every position it would be {nats(found.baseline)}. "
    )
    if found.steps is None:
        return words + (
            f"The attributions add up to {nats(float(found.value.sum()), '+')} where it differs "
            f"by {nats(gap, '+')}; this method promises no sum."
        )
    return words + (
        f"These tokens make the difference of {nats(gap, '+')}; the attributions miss it by "
        f"{abs(found.delta):.2g} nats (the convergence delta, {found.steps:,} steps)."
    )


def _rows(asked: Question, found: TokenAttribution) -> pd.DataFrame:
    read = asked.target.reads
    return pd.DataFrame(
        {
            "position": np.arange(read),
            "distance": asked.last - np.arange(read),
            "token": asked.labels[:read],
            "attribution": found.value[:read],
        }
    )


def nats(value: float, sign: str = "") -> str:
    """-0.125 as "−0.125 nats"."""
    return f"{value:{sign}z.3f} nats".replace("-", "−")
