"""Which tokens a prediction needs: told in words, and shown on the text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pages._shared import tables, terms
from pages.attribution import results, text, wait
from pages.attribution.question import Question
from pages.attribution.state import AttributionState
from viz_core.attribution import METHODS, TokenAttribution
from viz_core.words import mark, say

UNITS = {
    "log-probability": mark("nats of log-probability"),
    "logit": mark("nats of the logit"),
    "difference": mark("nats of the difference"),
}


def show(asked: Question, state: AttributionState) -> None:
    """The text on its tints, and how far the sum can be trusted. Raises AtlasError."""
    with wait.waiting(wait.wanted(asked, state), "attrib_tokens") as one:
        report = one.watch(say("attributions of tokens"))
        found = results.to_tokens(asked, state.method, state.steps, report)
    st.markdown(_sentence(asked, found), help=terms.of("logit", "nat"))
    if found.warning:
        st.warning(say("{warning} Choose more.", warning=found.warning))
    unit = say(UNITS[asked.target.kind])
    text.show(asked.labels, found.value, asked.target.queries, unit, "attrib_spoken", wait.pick)
    method = _sentence_case(say(METHODS[state.method]))
    st.caption(
        say(
            "{method}. Brown-red tokens add, blue ones take away; the outlined one is where it is "
            "asked. Nothing reads the faint ones at the end. Positions are added to the token "
            "vectors afterwards: this says which token matters at a place, not that some token "
            "stands there.",
            method=method,
        )
        if len(asked.target.queries) == 1
        else say(
            "{method}. Brown-red tokens add, blue ones take away. Nothing reads the faint ones at "
            "the end. Positions are added to the token vectors afterwards: this says which token "
            "matters at a place, not that some token stands there.",
            method=method,
        )
    )
    tables.numbers(_rows(asked, found), "attrib_tokens", say("Numbers, token by token"))


def _sentence(asked: Question, found: TokenAttribution) -> str:
    about = {
        "asked": _sentence_case(asked.words),
        "output": nats(found.output),
        "baseline": nats(found.baseline),
        "gap": nats(found.output - found.baseline, "+"),
    }
    if found.steps is None:
        return say(
            "{asked} is **{output}**; with the mean token vector at every position it would be "
            "{baseline}. The attributions add up to {sum} where it differs by {gap}; this method "
            "promises no sum.",
            sum=nats(float(found.value.sum()), "+"),
            **about,
        )
    return say(
        "{asked} is **{output}**; with the mean token vector at every position it would be "
        "{baseline}. These tokens make the difference of {gap}; the attributions miss it by "
        "{delta:.2g} nats (the convergence delta, {steps:,} steps).",
        delta=abs(found.delta),
        steps=found.steps,
        **about,
    )


def _sentence_case(words: str) -> str:
    return words[0].upper() + words[1:]


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
    number = f"{value:{sign}z.3f}".replace("-", "−")
    return say("{number} nats", number=number)
