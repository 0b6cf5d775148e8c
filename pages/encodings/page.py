"""Encodings: each one's formula as pictures, with every parameter to turn; no checkpoint needed."""

from __future__ import annotations

import streamlit as st

from pages._shared import address, terms
from pages._shared.page import Page
from pages.encodings import controls, results, views
from pages.encodings import state as encoding_state
from pages.encodings.state import AtlasState
from viz_core.errors import AtlasError
from viz_core.words import mark, say

PAGE = Page(
    title=mark("Encodings"),
    icon=":material/function:",
    order=2,
    about=mark(
        "Every position encoding as pure mathematics: map, curve and parts, with all parameters."
    ),
)


def main() -> None:
    st.title(
        say(PAGE.title),
        anchor=False,
        help=terms.of("position encoding", "attention", "head", "token"),
    )
    if "atlas_count" not in st.session_state:  # a first visit, or back from another page
        asked, wrong = st.session_state.get("atlas", AtlasState()), []
        if asked_for := address.asked():
            asked, wrong = encoding_state.decoded(asked_for)
        st.session_state.atlas_wrong = wrong
        controls.seed(asked)
    controls.keep()
    for sentence in st.session_state.atlas_wrong:
        st.warning(sentence)
    st.markdown(
        say(
            "What a position encoding does before anything is learned: no checkpoint is read and "
            "nothing is measured here, only formulas are drawn. What trained models make of them "
            "stands on the other pages."
        ),
        help=terms.of("checkpoint", "trained length", "extrapolation"),
    )
    controls.shared()
    columns = st.columns(st.session_state.atlas_count, gap="large")
    for i, column in enumerate(columns):
        with column:
            controls.side(i)
    controls.cut()
    state = controls.state()
    st.session_state.atlas = state
    address.publish(state.encoded())
    sides = []
    for side, column in zip(state.sides, columns, strict=True):
        with column:
            views.card(side)
            try:
                sides.append(results.alone(side, state))
            except AtlasError as error:
                st.error(str(error))
    if not sides:
        return
    known = views.drawn(sides, state)
    # one encoding leaves room for its curve beside its map
    left, right = st.columns(2, gap="large") if len(state.sides) == 1 else [st.container()] * 2
    with left:
        views.maps(known, sides, state)
    with right:
        views.curves(known, sides, state)
    views.parts(sides, state)


if __name__ == "__main__":
    main()
