"""The row above the maps: the way back as breadcrumbs, linking, and ranges typed exactly."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._kit import zoom
from pages._kit.session import CompareState
from viz_core.figures.attention_maps import ranges

# Breadcrumbs are lines of small print, not rows of buttons; on a narrow page they come first.
STYLE = """<style>
[class*=st-key-trail] { padding-top: 0.5rem; row-gap: 0; }
[class*=st-key-trail] button { min-height: 0; padding: 0; }
[class*=st-key-trail] p { font-size: 0.875rem; font-variant-numeric: tabular-nums; }
@media (max-width: 640px) {
  .st-key-zoom_bar { flex-wrap: wrap !important; }
  .st-key-zoom_bar > :first-child { flex-basis: 100%; }
}
</style>"""
ENDS = ("first_query", "last_query", "first_key", "last_key")


def bar(
    state: CompareState, titles: Sequence[str], lengths: Sequence[int], causal: bool = True
) -> None:
    """All of it, for maps with `titles`, of so many tokens each. `state` has its windows; `causal`
    as in `zoom.fit`."""
    several = len(titles) > 1
    apart = several and not state.linked
    st.html(STYLE)
    with st.container(horizontal=True, wrap=False, gap="medium", key="zoom_bar"):
        if apart:
            st.space("stretch")
        else:
            _trail(0)
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            if several:
                st.toggle(
                    "Zoom together",
                    key="linked",
                    on_change=zoom.link,
                    help="A box drawn on one map is shown in all of them. Turned on again, all "
                    "maps look where the last box was.",
                )
            with st.popover("Exact range", type="tertiary"):
                _exact(titles, lengths, apart, causal)
    if apart:
        for i, column in enumerate(st.columns(len(titles), gap="medium")):
            with column:
                _trail(i, titles[i])


def _trail(i: int, title: str = "") -> None:
    """The way from the whole map to the present window; each step but the last goes back there."""
    names = ["Whole map", *(ranges(*box) for box in zoom.trails()[i])]
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"trail{i}"):
        if title:
            st.markdown(f"{title}:", width="content")
        for kept, name in enumerate(names[:-1]):
            st.button(
                f"{name} ›",
                key=f"crumb{i}_{kept}",
                type="tertiary",
                on_click=zoom.back,
                args=(i, kept),
                help=f"Back to this window of {title}" if title else None,
            )
        st.markdown(f"**{names[-1]}**", width="content")


def _exact(titles: Sequence[str], lengths: Sequence[int], apart: bool, causal: bool) -> None:
    """Four numbers and a button, for one map or for all."""
    which = 0
    if apart:
        which = st.selectbox("Map", range(len(titles)), format_func=titles.__getitem__)
    trail, length = zoom.trails()[which], lengths[which]
    box = trail[-1] if trail else zoom.whole(length)
    if st.session_state.get("typed_for") != (which, box):  # else what was typed, wrong or not
        st.session_state.typed_for = (which, box)
        for name, place in zip(ENDS, (e for a, b in box for e in (a, b - 1)), strict=True):
            st.session_state[name] = place
    with st.form("exact", border=False, enter_to_submit=True):
        for a, b in ((ENDS[0], ENDS[1]), (ENDS[2], ENDS[3])):
            left, right = st.columns(2)
            for column, name in ((left, a), (right, b)):
                column.number_input(name.replace("_", " ").capitalize(), step=1, key=name)
        st.form_submit_button(
            "Show", on_click=_typed, args=(which, length, causal), width="stretch"
        )
    if sentence := st.session_state.pop("typed_wrong", None):
        st.error(sentence)
    st.caption(
        f"Tokens are counted from 0 to {length - 1:,}, both ends included. Up to 512 on a side are "
        "shown one by one."
    )


def _typed(which: int, length: int, causal: bool) -> None:
    a, b, c, d = (int(st.session_state[name]) for name in ENDS)
    box = (a, b + 1), (c, d + 1)
    sentence = zoom.wrong(box, length, causal)
    if sentence:
        st.session_state.typed_wrong = sentence
    else:
        zoom.into(which, box, length)
