"""The row above the maps: the way back as breadcrumbs, linking, and ranges typed exactly."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._shared import language, terms
from pages.compare import zoom
from pages.compare.state import CompareState
from viz_core.figures.attention_maps import ranges
from viz_core.words import mark, say

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
ENDS = {
    "first_query": mark("First query"),
    "last_query": mark("Last query"),
    "first_key": mark("First key"),
    "last_key": mark("Last key"),
}


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
            st.toggle(
                say("Show me where to look"),
                key="marks",
                help=say(
                    "Draws fine lines on the maps and curves where the stairs, the ripples and the "
                    "first keys are, from what was measured of each head."
                ),
            )
            if several:
                st.toggle(
                    say("Zoom together"),
                    key="linked",
                    on_change=zoom.link,
                    help=say(
                        "A box drawn on one map is shown in all of them. Turned on again, all maps "
                        "look where the last box was."
                    ),
                )
            with st.popover(say("Exact range"), type="tertiary"):
                _exact(titles, lengths, apart, causal)
    if apart:
        for i, column in enumerate(st.columns(len(titles), gap="medium")):
            with column:
                _trail(i, titles[i])


def _trail(i: int, title: str = "") -> None:
    """The way from the whole map to the present window; each step but the last goes back there."""
    names = [say("Whole map"), *(ranges(*box) for box in zoom.trails()[i])]
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"trail{i}"):
        if title:
            st.markdown(say("{title}:", title=title), width="content")
        for kept, name in enumerate(names[:-1]):
            st.button(
                f"{name} ›",
                key=f"crumb{i}_{kept}",
                type="tertiary",
                on_click=zoom.back,
                args=(i, kept),
                help=say("Back to this window of {title}", title=title) if title else None,
            )
        st.markdown(f"**{names[-1]}**", width="content")


def _exact(titles: Sequence[str], lengths: Sequence[int], apart: bool, causal: bool) -> None:
    """Four numbers and a button, for one map or for all."""
    which = 0
    if apart:
        which = st.selectbox(say("Map"), range(len(titles)), format_func=titles.__getitem__)
    trail, length = zoom.trails()[which], lengths[which]
    box = trail[-1] if trail else zoom.whole(length)
    if st.session_state.get("typed_for") != (which, box):  # else what was typed, wrong or not
        st.session_state.typed_for = (which, box)
        for name, place in zip(ENDS, (e for a, b in box for e in (a, b - 1)), strict=True):
            st.session_state[name] = place
    with st.form("exact", border=False, enter_to_submit=True):
        columns = (*st.columns(2), *st.columns(2))
        for column, (name, words) in zip(columns, ENDS.items(), strict=True):
            column.number_input(say(words), step=1, key=name)
        st.form_submit_button(
            say("Show"), on_click=_typed, args=(which, length, causal), width="stretch"
        )
    if sentence := st.session_state.pop("typed_wrong", None):
        st.error(sentence)
    st.caption(
        say(
            "Tokens are counted from 0 to {last:,}, both ends included. Up to 512 on a side are "
            "shown one by one.",
            last=length - 1,
        ),
        help=terms.of("token", "window", "cell"),
    )


def _typed(which: int, length: int, causal: bool) -> None:
    language.recall()  # a callback, and sentences may follow
    a, b, c, d = (int(st.session_state[name]) for name in ENDS)
    box = (a, b + 1), (c, d + 1)
    sentence = zoom.wrong(box, length, causal)
    if sentence:
        st.session_state.typed_wrong = sentence
    else:
        zoom.into(which, box, length)
