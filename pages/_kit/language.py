"""The language that a visitor reads: chosen at the top of every page, remembered in the address."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from viz_core import words

NAME = "lang"  # in the address; English is left out


def choose() -> None:
    """The switch, and from here on in this run everything is said in its language."""
    if "language" not in st.session_state:
        st.session_state.language = _wanted()
    with st.container(key="language_switch"):
        st.segmented_control(
            "Language, 语言",
            list(words.LANGUAGES),
            format_func=words.LANGUAGES.__getitem__,
            key="language",
            required=True,
            label_visibility="collapsed",
        )
    recall()


def recall() -> None:
    """For what runs without the frame around the page, fragments and callbacks: the same language."""
    words.speak(st.session_state.get("language", words.PLAIN))


def asked() -> dict[str, str]:
    """What the address asks of a page: its parameters without the language."""
    return {name: value for name, value in st.query_params.to_dict().items() if name != NAME}


def publish(query: Mapping[str, str]) -> None:
    """Makes `query` the address, with the language where it is not English."""
    spoken = words.language()
    st.query_params.from_dict({**query, **({NAME: spoken} if spoken != words.PLAIN else {})})


def _wanted() -> str:
    """By the address; else by what the browser prefers."""
    asked = st.query_params.get(NAME, "")
    if asked in words.LANGUAGES:
        return asked
    prefers = (st.context.locale or "").split("-")[0].lower()
    return prefers if prefers in words.LANGUAGES else words.PLAIN
