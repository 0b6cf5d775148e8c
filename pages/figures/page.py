"""Figures: what was pinned as one figure for a paper, at its true size, to take away."""

from __future__ import annotations

import streamlit as st

from pages._shared import address, offered, tray_state
from pages._shared.page import Page
from pages.figures import downloads, pinned, preview, ready, share, target
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.plates.tray import Tray
from viz_core.words import mark, say

PAGE = Page(
    title=mark("Figures"),
    icon=":material/dashboard:",
    order=8,
    about=mark(
        "Figures for papers: what was pinned on any page, as one, at the exact width of a venue."
    ),
)
STEPS = (  # of making one: an icon, a name, and how
    (
        "keep",
        mark("Pin"),
        mark(
            "Under every figure stands Pin. What is pinned comes to the tray as it "
            "is on the screen: its checkpoints, layer, heads, text and length."
        ),
    ),
    (
        "dashboard",
        mark("Arrange"),
        mark(
            "Here the pinned figures become one, at the exact width of a "
            "venue's column and at true size, with panel letters and one caption."
        ),
    ),
    (
        "download",
        mark("Take away"),
        mark(
            "As PDF, SVG, PNG, PGF, page or numbers; each file says what "
            "it was made from and holds the command that draws it again."
        ),
    ),
)


def main() -> None:
    st.title(say(PAGE.title), anchor=False)
    if "tray_across" not in st.session_state:  # a first visit, or back from another page
        st.session_state.tray_wrong = _opened()
        target.seed(tray_state.tray())
        if tray_state.tray().pins:
            st.rerun()  # the menu, which counts them, was drawn before they were known
    if wrong := st.session_state.tray_wrong:
        st.warning(wrong)
    shipped, damaged = offered.shipped()
    for sentence in damaged:
        st.error(sentence)
    if tray_state.tray().pins:
        _tray(shipped)
    else:
        _empty()
        ready.show(shipped)
    address.publish(tray_state.tray().to_query())


def _opened() -> str:
    """Takes the tray of the address, if it has one; a sentence where it can't be read."""
    if "pins" not in st.query_params:
        return ""
    try:
        tray_state.put(Tray.from_query(address.asked()))
    except AtlasError as error:
        return str(error)
    return ""


def _empty() -> None:
    st.markdown(say("Figures for papers are put together here, from what the other pages show."))
    for column, (icon, step, how) in zip(st.columns(3, gap="medium"), STEPS, strict=True):
        column.markdown(f"**:material/{icon}: {say(step)}**  \n{say(how)}")
    with st.expander(say("Open a tray that was kept")):
        share.bring()


def _tray(shipped: dict[str, Checkpoint]) -> None:
    left, right = st.columns([1, 2], gap="medium")
    with left:
        target.show()
        tray = tray_state.tray()
        places = pinned.show()
        leave = st.container()
        share.show(tray)
    ready.show(shipped)
    with right:  # last: nothing else waits for what it may have to compute
        figure = preview.show(tray, places)
    if figure is not None:
        with leave:
            downloads.show(figure)


if __name__ == "__main__":
    main()
