"""The wall: all heads of a checkpoint as small pictures, in their places or by a statistic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import streamlit as st

from pages._kit.draw import Picture
from viz_core.types import SINK


def _per_cent(share: float) -> str:
    """Two digits or so, however small: most heads have next to no sink."""
    value = 100 * share
    if value < 0.01:
        return "< 0.01 %"
    return f"{value:.0f} %" if value >= 10 else f"{value:.2g} %"


@dataclass(frozen=True)
class Order:
    """A way to sort heads: its name, what it means, how a value is written, and words around it."""

    name: str
    meaning: str = ""
    number: Callable[[float], str] = str
    words: str = "{}"


ORDERS = {  # by the keys of `Survey.statistics`, and `session.SORTS`
    "place": Order("Layer and head"),
    "reach": Order(
        "Reach",
        "How many of its nearest keys hold 90 % of a query's attention (the median query of the "
        "first text).",
        "{:,.0f}".format,
        "90 % of the mass within {} tokens",
    ),
    "ripple": Order(
        "Ripple",
        "How far log-attention by distance swings about its trend: root mean square, in nats.",
        "{:.2f}".format,
        "swings by {} nats about its trend",
    ),
    "sink": Order(
        "Sink",
        f"How much of a query's attention goes to the first {SINK} keys (the median query of the "
        "first text).",
        _per_cent,
        f"{{}} of the mass on the first {SINK} keys",
    ),
    "entropy": Order(
        "Entropy",
        "How evenly a query spreads its attention, 100 % being the same for all keys (the median "
        "query of the first text).",
        _per_cent,
        "entropy {} of an even spread's",
    ),
}


def control() -> None:
    """The heading of the walls, and how they are sorted."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.subheader("All heads", anchor=False, width="content")
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            st.markdown("Sorted by", width="content")
            st.segmented_control(
                "Sorted by",
                list(ORDERS),
                format_func=lambda name: ORDERS[name].name,
                key="sort",
                required=True,
                label_visibility="collapsed",
            )
    order = ORDERS[st.session_state.sort]
    if order.meaning:
        st.caption(f"{order.meaning} Largest first.")


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
        brief, words = "–", "no value for so short a text"
        if np.isfinite(value):
            brief = order.number(value)
            words = order.words.format(brief)
        out.append(Picture(*places[i], images[i], brief, words))
    return out
