"""Compare, the home page: attention maps of checkpoints side by side, their decay curves below."""

from __future__ import annotations

import streamlit as st

from pages._shared import address, loaded, offered, terms, tour
from pages._shared.page import Page
from pages.compare import controls, results, view, zoom
from pages.compare import state as compare_state
from pages.compare.state import CompareState, SideState
from viz_core import catalogue, texts, trace
from viz_core.errors import AtlasError, LengthError
from viz_core.words import mark, say

PAGE = Page(
    title=mark("Compare"),
    icon=":material/compare:",
    order=0,
    about=mark("Attention maps of trained checkpoints side by side, and attention by distance."),
)
FIRST = (("alibi", 1, 4), ("rope", 1, 0))  # the maps that a new visitor sees


def default(shipped: dict[str, catalogue.Checkpoint]) -> CompareState:
    """The first view: ALiBi left, RoPE right, where they are shipped."""
    sides = [SideState(*s) for s in FIRST if s[0] in shipped]
    return CompareState(tuple(sides) or (SideState(next(iter(shipped)), 0, 0),))


def prepare() -> None:
    """Computes the first view ahead of any visitor. Raises AtlasError."""
    shipped, _ = offered.shipped()
    if shipped:
        state = default(shipped)
        chosen = [shipped[side.checkpoint] for side in state.sides]
        for one, passages in zip(chosen, results.read(state, chosen), strict=True):
            results.prepare(state, one, passages)


def main() -> None:
    st.title("Attention Atlas", anchor=False, help=terms.of("attention", "query", "key", "token"))
    shipped, damaged = offered.checkpoints()
    for sentence in damaged:
        st.error(sentence)
    if not shipped:
        st.info(
            say(
                "Expected trained checkpoints in the folder `checkpoints`; there are none. Run "
                "`make checkpoints` to train them."
            )
        )
        return
    if "length" not in st.session_state:  # the address counts once; then the widgets do
        asked, wrong = st.session_state.get("compare", default(shipped)), []
        if asked_for := address.asked():  # none where one comes back from another page
            asked, wrong = compare_state.decoded(asked_for, default(shipped))
        wrong += [
            say(
                "Expected a checkpoint among {known}; the address names {found!r}, so another is "
                "shown.",
                known=", ".join(shipped),
                found=s.checkpoint[:40],
            )
            for s in asked.sides
            if s.checkpoint not in shipped
        ]
        st.session_state.wrong = wrong
        controls.seed(asked)
    controls.keep()
    for sentence in st.session_state.wrong:
        st.warning(sentence)
    if not st.session_state.get("tour"):  # its words are enough at a time
        _about()
    tour.invite()
    first = next(iter(shipped.values()))
    if "longest" not in st.session_state:  # once: choices that come and go would move the slider
        st.session_state.longest = trace.longest(loaded.model(first))
    controls.shared(texts.available(), controls.trained(shipped), st.session_state.longest)
    columns = st.columns(st.session_state.count, gap="medium")
    sides = []
    for i, column in enumerate(columns):
        with column:
            sides.append(controls.side(i, shipped))
    state = zoom.placed(controls.state(sides))
    controls.publish(state)
    try:
        view.show(state, shipped, default(shipped))
    except LengthError as error:
        st.error(str(error))
        if error.largest:
            st.button(
                say("Use {length:,} tokens", length=error.largest),
                on_click=st.session_state.update,
                args=({"length": error.largest},),
            )
    except AtlasError as error:
        st.error(str(error))


def _about() -> None:
    """What a map is, and what the two claims are."""
    st.markdown(
        say(
            "Each row of a map is a query token, each column a key before it; colour says how much "
            "the one attends to the other. **ALiBi** lets attention fall off in a straight line, "
            "each head half as steeply as the one before: a staircase across heads. **RoPE** turns "
            "queries and keys against each other, and attention ripples with distance."
        ),
        help=terms.of("staircase", "ripple", "distance", "cell"),
    )


if __name__ == "__main__":
    main()
