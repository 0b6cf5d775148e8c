"""Sweeps: what emerges in training, and any sweep of this server, finished or running."""

from __future__ import annotations

import streamlit as st

from pages._shared import address, terms
from pages._shared.page import Page, section
from pages.sweeps import folders, how, shipped, state, view
from pages.sweeps.state import SweepsState
from viz_core.words import mark, say

PAGE = Page(
    title=mark("Sweeps"),
    icon=":material/dynamic_form:",
    order=5,
    about=mark("What emerges in training, and sweeps over many checkpoints as they run."),
)


def main() -> None:
    st.title(say(PAGE.title), anchor=False)
    known = folders.known()
    if "sweeps_sweep" not in st.session_state:  # a first visit, or back from another page
        asked, wrong = st.session_state.get("sweeps", SweepsState()), list[str]()
        if asked_for := address.asked():
            asked, wrong = state.decoded(asked_for, list(known))
        st.session_state.sweeps_wrong = wrong
        st.session_state.sweeps_sweep = asked.sweep or _first()
        st.session_state.sweeps_text, st.session_state.sweeps_length = asked.text, asked.length
    for name in ("sweep", "text", "length"):  # kept while its widget isn't drawn
        st.session_state[f"sweeps_{name}"] = st.session_state.get(f"sweeps_{name}")
    for sentence in st.session_state.sweeps_wrong:
        st.warning(sentence)
    st.markdown(
        say(
            "What other pages measure of one checkpoint, a **sweep** measures of many: of every "
            "kept step of a training, under many settings, at many lengths. Here is what emerges "
            "while a model learns, and below, every sweep of this server."
        ),
        help=terms.of("checkpoint"),
    )
    section(shipped.show)
    st.subheader(say("Sweeps of this server"), anchor=False)
    if known:
        if st.session_state.sweeps_sweep not in known:
            st.session_state.sweeps_sweep = None
        st.selectbox(
            say("Sweep"),
            list(known),
            format_func=folders.title,
            placeholder=say("Choose one to see how far it is"),
            key="sweeps_sweep",
        )
    chosen = st.session_state.sweeps_sweep
    if chosen in known:
        section(view.show, chosen, known[chosen])
    how.show(folded=chosen in known)
    _remember()


def _first() -> str | None:
    """What is shown to who asks for none: the owner's own, where there is one."""
    examples = folders.EXAMPLES
    own = (name for name, path in folders.known().items() if path.parent != examples)
    return next(own, None)


def _remember() -> None:
    """The state into the address, and into the session for when the page is opened again."""
    s = st.session_state
    parts = {name: s.get(f"sweeps_{name}") or "" for name in ("sweep", "text", "length")}
    s.sweeps = SweepsState(**parts)
    address.publish(s.sweeps.encoded())


if __name__ == "__main__":
    main()
