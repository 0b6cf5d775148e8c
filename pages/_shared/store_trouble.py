"""What a person is told where the server can't keep its results; its owner reads why in the log."""

from __future__ import annotations

import streamlit as st

from pages._shared import keeping
from viz_core.words import say


def show() -> None:
    """A line below the page, while the last result could not be stored; else nothing."""
    if keeping.store().trouble:
        st.caption(
            say(
                "This server can't store results at the moment. What you see is right; others who "
                "ask for it may wait for it again."
            )
        )
