"""The pins of the tray, one below the other: to order, to take out, and to go back to."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._shared import tray_state
from pages._shared.page import script
from pages.figures import words as figure_words
from viz_core.plates.tray import Pin
from viz_core.words import say

STYLE = """<style>
.st-key-tray_list { row-gap: 0; }
[class*=st-key-tray_item] { border-top: 1px solid rgba(128, 128, 128, 0.25);
  padding: 0.5rem 0 0.75rem; }
[class*=st-key-tray_item] button, [class*=st-key-tray_item] a { min-height: 0; padding: 0.1rem; }
[class*=st-key-tray_item] a { margin: 0; }
</style>"""


def show() -> dict[str, DeltaGenerator]:
    """All pins in order; returns by their words the places below them, for what is wrong there."""
    st.html(STYLE)
    pins, places = tray_state.tray().pins, {}
    with st.container(key="tray_list"):
        for place, pin in enumerate(pins):
            with st.container(
                horizontal=True,
                wrap=False,
                vertical_alignment="center",
                gap="small",
                key=f"tray_item{place}",
            ):
                _words(place, pin)
                _moves(place, pin, len(pins))
            places[pin.word()] = st.empty()
    return places


def _words(place: int, pin: Pin) -> None:
    with st.container(gap="xxsmall"):
        st.markdown(f"{place + 1}\\. **{figure_words.title(pin)}**")
        st.caption(figure_words.options(pin) or say("as it is ready-made"))


def _moves(place: int, pin: Pin, count: int) -> None:
    """Up, down, out, and back to the page."""
    up, down = place > 0, place < count - 1
    with st.container(
        horizontal=True, wrap=False, gap="xsmall", width="content", vertical_alignment="center"
    ):
        _button("upward", say("Before the one above"), f"tray_up{place}", up, place, -1)
        _button("downward", say("After the one below"), f"tray_down{place}", down, place, 1)
        st.button(
            "",
            icon=":material/close:",
            type="tertiary",
            help=say("Take it out"),
            key=f"tray_out{place}",
            on_click=tray_state.remove,
            args=(place,),
        )
        home = figure_words.home(pin)
        st.page_link(
            script(home.page),
            label=" ",
            icon=":material/arrow_outward:",
            help=say("Back to where it was pinned")
            if home.query
            else say("To the page that shows the like"),
            query_params=dict(home.query) or None,
        )


def _button(way: str, words: str, key: str, enabled: bool, place: int, by: int) -> None:
    """An arrow that moves the pin at `place`."""
    st.button(
        "",
        icon=f":material/arrow_{way}:",
        type="tertiary",
        help=words,
        key=key,
        disabled=not enabled,
        on_click=tray_state.move,
        args=(place, by),
    )
