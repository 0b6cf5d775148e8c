"""The language that a visitor reads: chosen at the top of every page, remembered in the address."""

from __future__ import annotations

import streamlit as st

from pages._shared import draw
from pages._shared.address import LANGUAGE
from viz_core import words

TAGS = {"zh": "zh-Hans"}  # as documents name them, where ours says too little

_document = draw.component("document")


def choose() -> None:
    """The switch, and from here on in this run everything is said in its language."""
    if "language" not in st.session_state:
        st.session_state.language = _wanted()
    st.segmented_control(
        "Language, 语言",
        list(words.LANGUAGES),
        format_func=words.LANGUAGES.__getitem__,
        key="language",
        required=True,
        label_visibility="collapsed",
    )
    recall()
    spoken = words.language()
    _document(data={"lang": TAGS.get(spoken, spoken)}, key="document")


def recall() -> None:
    """The same language for what runs without the frame around the page: fragments, callbacks."""
    words.speak(st.session_state.get("language", words.PLAIN))


def _wanted() -> str:
    """By the address; else by what the browser prefers."""
    found = st.query_params.get(LANGUAGE, "")
    if found in words.LANGUAGES:
        return found
    prefers = (st.context.locale or "").split("-")[0].lower()
    return prefers if prefers in words.LANGUAGES else words.PLAIN
