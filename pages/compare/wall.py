"""The wall: all heads of a checkpoint as small pictures, in their places or by a statistic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import streamlit as st

from pages._shared import terms
from pages._shared.draw import Picture
from viz_core.types import SINK
from viz_core.words import mark, say


def per_cent(share: float) -> str:
    """Two digits or so, however small: most heads have next to no sink."""
    value = 100 * share
    if value < 0.01:
        return say("< 0.01 %")
    number = f"{value:.0f}" if value >= 10 else f"{value:.2g}"
    return say("{number} %", number=number)


@dataclass(frozen=True)
class Order:
    """A way to sort heads: its name, what it means, how a value is written, and words around it.

    Words are marked, with the fields {value} and {sink}.
    """

    name: str
    meaning: str = ""
    number: Callable[[float], str] = str
    words: str = ""


ORDERS = {  # by the keys of `Survey.statistics`, and `session.SORTS`
    "place": Order(mark("Layer and head")),
    "reach": Order(
        mark("Reach"),
        mark(
            "How many of its nearest keys hold 90 % of a query's attention (the median query of "
            "the first text). Largest first."
        ),
        "{:,.0f}".format,
        mark("90 % of the mass within {value} tokens"),
    ),
    "ripple": Order(
        mark("Ripple"),
        mark(
            "How far log-attention by distance swings about its trend: root mean square, in nats. "
            "Largest first."
        ),
        "{:.2f}".format,
        mark("swings by {value} nats about its trend"),
    ),
    "sink": Order(
        mark("Sink"),
        mark(
            "How much of a query's attention goes to the first {sink} keys (the median query of "
            "the first text). Largest first."
        ),
        per_cent,
        mark("{value} of the mass on the first {sink} keys"),
    ),
    "entropy": Order(
        mark("Entropy"),
        mark(
            "How evenly a query spreads its attention, 100 % being the same for all keys (the "
            "median query of the first text). Largest first."
        ),
        per_cent,
        mark("entropy {value} of an even spread's"),
    ),
}


def control() -> None:
    """The heading of the walls, and how they are sorted."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.subheader(
            say("All heads"),
            anchor=False,
            width="content",
            help=terms.of("reach", "ripple", "sink", "entropy"),
        )
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            st.markdown(say("Sorted by"), width="content")
            st.segmented_control(
                say("Sorted by"),
                list(ORDERS),
                format_func=lambda name: say(ORDERS[name].name),
                key="sort",
                required=True,
                label_visibility="collapsed",
            )
    order = ORDERS[st.session_state.sort]
    if order.meaning:
        st.caption(say(order.meaning, sink=SINK))


def pictures(
    images: Sequence[bytes], heads: int, sort: str, values: npt.NDArray[np.float64] | None
) -> list[Picture]:
    """`images`, layer by layer, in the order `sort` of `values` [layer, head]; None in place.

    Largest first; heads without a value come last.
    """
    places = [divmod(i, heads) for i in range(len(images))]
    if values is None:
        return [Picture(*place, png) for place, png in zip(places, images, strict=True)]
    order = ORDERS[sort]
    out = []
    for i in np.argsort(-values.ravel(), kind="stable"):  # NaN stands last
        value = float(values.ravel()[i])
        brief, words = "–", say("no value for so short a text")
        if np.isfinite(value):
            brief = order.number(value)
            words = say(order.words, value=brief, sink=SINK)
        out.append(Picture(*places[i], images[i], brief, words))
    return out
