"""A text with its attributions: each token on a tint, its number on hover, a legend above.

Blue against brown-red can be told apart without seeing red or green, and what counts most is
underlined as well, solid where it adds and dotted where it takes away, for those who see neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from pages._shared import draw
from viz_core.words import say

COLOURS = {  # taking away and adding, on a light page and on a dark one
    False: ((58, 119, 175), (191, 98, 55)),
    True: ((86, 158, 224), (232, 128, 72)),
}
FULL = 0.6  # opacity of the strongest tint, on which ink can still be read
LINED = 0.2  # of the largest: from there on a token is underlined
STEPS = (-1.0, -0.25, 0.0, 0.25, 1.0)  # of the largest: the legend's marks

_tokens = draw.component("tokens")


def show(
    labels: Sequence[str],
    values: npt.NDArray[np.float64],
    queries: Sequence[int],
    unit: str,
    key: str,
    on_pick: Callable[[int], None],
) -> None:
    """The text of `labels` [token] with `values` [token]; a single one of `queries` is outlined.

    `unit` says what a value is of. Tokens after the last query are faint: nothing reads them.
    `on_pick(token)` runs when one is picked, never for the first.
    """

    def changed() -> None:
        if found := st.session_state[key].picked:
            on_pick(int(found))

    data = message(labels, values, queries, unit, draw.dark())
    _tokens(data=data, key=key, on_picked_change=changed)


def message(
    labels: Sequence[str],
    values: npt.NDArray[np.float64],
    queries: Sequence[int],
    unit: str,
    dark: bool,
) -> dict[str, Any]:
    """Everything that the script needs, in JSON types."""
    top, last = float(np.abs(values).max()) or 1.0, max(queries)
    asked = set(queries) if len(queries) == 1 else set()  # a range would be a page of outlines
    items = []
    for i, (label, value) in enumerate(zip(labels, values, strict=True)):
        if i > last:
            words = say("{i:,} “{token}”: after what is explained", i=i, token=label)
            items.append({"text": _readable(label), "words": words, "kind": "unread"})
            continue
        words = say(
            "{i:,} “{token}”, distance {distance:,}: {number} nats",
            i=i,
            token=label,
            distance=last - i,
            number=_number(float(value)),
        )
        kind = "asked" if i in asked else ""
        tint = _tint(float(value) / top, dark)
        items.append({"text": _readable(label), "words": words, "kind": kind, **tint})
    legend = [{"text": _number(step * top), **_tint(step, dark)} for step in STEPS]
    said = {
        "hint": say("Point at a token to read its number. Click one to explain why it comes next."),
        "first": say("Nothing comes before the first token to explain it."),
        "name": say("The text, token by token"),
    }
    return {"items": items, "legend": legend, "unit": unit, "dark": dark, "words": said}


def _tint(share: float, dark: bool) -> dict[str, str]:
    """Background and underline of a token that has `share` of the largest attribution, -1 .. 1.

    Opacity goes with the square root: a quarter of the largest is half as strong, so that the many
    small ones aren't lost beside the largest.
    """
    r, g, b = COLOURS[dark][share > 0]
    line = ""
    if abs(share) >= LINED:
        line = f"2px {'solid' if share > 0 else 'dotted'} rgb({r},{g},{b})"
    return {"tint": f"rgba({r},{g},{b},{FULL * math.sqrt(abs(share)):.3f})", "line": line}


def _readable(label: str) -> str:
    """A label of `texts.pieces` as it stands in a text: with its spaces, and its ends of lines."""
    rest = label.lstrip("·")
    return (" " * (len(label) - len(rest)) + rest).replace("↵", "↵\n")


def _number(value: float) -> str:
    return f"{value:+.2g}".replace("-", "−") if value else "0"
