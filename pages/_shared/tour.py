"""A tour of five things to see, each a state of a page that any address can name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from pages._shared import address
from pages._shared.page import script
from viz_core.words import mark, say


@dataclass(frozen=True)
class Stop:
    """What a stop is called, what there is to see (both marked), and the address that shows it."""

    title: str
    words: str
    page: str
    query: Mapping[str, str]


STOPS = (
    Stop(
        mark("Stairs from head to head"),
        mark(
            "Each of these ALiBi heads has half the slope of the one before, so its band along the "
            "diagonal is nearly twice as wide. These stairs are between heads: within a head, "
            "log-attention falls in a straight line, as the curves below the maps show."
        ),
        "compare",
        {
            "v": "1",
            "a": "alibi.3.3",
            "b": "alibi.3.4",
            "c": "alibi.3.5",
            "d": "alibi.3.6",
            "length": "512",
            "marks": "1",
        },
    ),
    Stop(
        mark("Ripples along the diagonal"),
        mark(
            "This RoPE head lights up again every 6.3 tokens of distance: 2π, one turn of RoPE's "
            "fastest pair of channels. Its curve, below the maps, swings by several nats, and "
            "RoPE's own frequencies explain that far better than random ones (p = 0.005)."
        ),
        "compare",
        {"v": "1", "a": "rope.2.4", "length": "512", "marks": "1", "za": "64-127.0-63"},
    ),
    Stop(
        mark("Stairs within a head"),
        mark(
            "T5's bias is a table with one value for each bucket of distances, and this head's "
            "curve, below the map, steps where one bucket ends and the next begins. Here, and not "
            "in ALiBi, the stairs are within a single head."
        ),
        "compare",
        {"v": "1", "a": "t5.3.3", "length": "512", "x_log": "1", "marks": "1"},
    ),
    Stop(
        mark("Past the trained length"),
        mark(
            "All these models were trained on texts of 512 tokens. At twice that RoPE loses more "
            "than half a nat per token, while ALiBi stays as good as it was; learned positions "
            "have no value there at all, so their curve ends."
        ),
        "extrapolation",
        {"v": "1", "measure": "difference"},
    ),
    Stop(
        mark("RoPE stretched by NTK scaling"),
        mark(
            "The chart under “Other settings” shows the same RoPE model with its rotations slowed "
            "down, without any training: at 1,024 tokens it loses 0.14 nats per token instead of "
            "0.57. That helps, and it doesn't heal: at 4,096 tokens it loses 1.04 instead of 1.19."
        ),
        "extrapolation",
        {"v": "1", "measure": "difference", "settings": "none~ntk-fit"},
    ),
)
# of a stop's page, a widget that stands for all: without it the page reads its address
FIRST = {"compare": "length", "extrapolation": "lab_protocol"}


def follow() -> None:
    """Takes the stop from the address, which counts once; then the buttons do."""
    if "tour" not in st.session_state:
        found = st.query_params.get(address.TOUR, "")
        known = found.isdecimal() and 1 <= int(found[:4]) <= len(STOPS)
        st.session_state.tour = int(found) if known else 0
        st.session_state.tour_bare = known and not address.asked()  # the stop's number alone


def show() -> None:
    """The stop that one is at, above the page; nothing while no tour is on."""
    number: int = st.session_state.tour
    if not number:
        return
    if st.session_state.pop("tour_bare", False):
        _go(number)
    stop = STOPS[number - 1]
    with st.container(key="tour"):
        st.markdown(
            say("**{title}** · step {number} of {count}", title=say(stop.title), **_count(number))
        )
        st.markdown(say(stop.words))
        with st.container(horizontal=True, gap="xsmall", key="tour_ways"):
            _way(say("Previous"), "back", number - 1, ":material/arrow_back:")
            _way(say("Next"), "on", number + 1, ":material/arrow_forward:")
            _way(say("Show it again"), "again", number, ":material/refresh:")
            st.button(say("End the tour"), key="tour_end", type="tertiary", on_click=_end)


def invite() -> None:
    """A row that offers the tour; nothing while one is on, or once it was turned down."""
    if st.session_state.get("tour") or st.session_state.get("tour_declined"):
        return
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="tour_invitation"
    ):
        st.markdown(
            say("New here? Five views show what there is to see, and what the numbers say of it."),
            width="stretch",
        )
        _way(say("Take the tour"), "start", 1, ":material/arrow_forward:")
        st.button(
            "",
            icon=":material/close:",
            key="tour_decline",
            type="tertiary",
            help=say("Not now"),
            on_click=_decline,
        )


def _count(number: int) -> dict[str, int]:
    return {"number": number, "count": len(STOPS)}


def _way(words: str, key: str, number: int, icon: str) -> None:
    """A button to the stop `number`; none where there is no such stop."""
    end = "right" if key in ("on", "start") else "left"
    there = 1 <= number <= len(STOPS)
    pressed = there and st.button(
        words, key=f"tour_{key}", type="tertiary", icon=icon, icon_position=end
    )
    if pressed:
        _go(number)


def _go(number: int) -> None:
    """Opens a stop: its page is to read its address, whatever its controls said before."""
    stop = STOPS[number - 1]
    st.session_state.tour = number
    st.session_state.pop(FIRST[stop.page], None)
    st.switch_page(script(stop.page), query_params=address.whole(stop.query))


def _end() -> None:
    st.session_state.tour = 0


def _decline() -> None:
    st.session_state.tour_declined = True
