"""The address: what it asks of the page, and what the frame around every page keeps in it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from viz_core import words

LANGUAGE, TOUR = "lang", "tour"  # the frame's own; left out where they say nothing


def asked() -> dict[str, str]:
    """What the address asks of the page: its parameters without the frame's."""
    query = st.query_params.to_dict()
    return {name: value for name, value in query.items() if name not in (LANGUAGE, TOUR)}


def publish(query: Mapping[str, str]) -> None:
    """Makes the page's `query` the address, with what the frame keeps."""
    st.query_params.from_dict(whole(query))


def whole(query: Mapping[str, str]) -> dict[str, str]:
    """`query` with what the frame keeps: the language unless it is English, the tour's stop."""
    frame = {}
    if words.language() != words.PLAIN:
        frame[LANGUAGE] = words.language()
    if stop := st.session_state.get("tour"):
        frame[TOUR] = str(stop)
    return {**query, **frame}
