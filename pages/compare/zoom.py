"""Where each map looks: a trail of windows per map, from coarse to fine; the whole map is none.

The trails are the session's, not a widget's: boxes on the maps, breadcrumbs and typed ranges all
move along them. There is one for every map that there may be, so that a new one finds its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from pages._shared.boxes import Box, seen
from pages.compare.state import MOST_SIDES, CompareState
from viz_core.figures.attention_maps import ranges
from viz_core.words import say

Trail = tuple[Box, ...]


def seed(state: CompareState) -> None:
    """Starts the trails with the windows of `state`, each straight from the whole map."""
    boxes = [s.box for s in state.sides]
    boxes += [boxes[0] if state.linked else None] * (MOST_SIDES - len(boxes))
    st.session_state.trails = tuple((box,) if box else () for box in boxes)
    st.session_state.zoomed_last = 0


def trails() -> tuple[Trail, ...]:
    """The present trails, by map."""
    return st.session_state.trails


def restore(old: tuple[Trail, ...]) -> None:
    """Goes back to trails that were the present ones before."""
    st.session_state.trails = old


def placed(state: CompareState) -> CompareState:
    """`state` with the windows at the ends of the trails."""
    ends = (trail[-1] if trail else None for trail in trails())
    sides = tuple(side.on(box) for side, box in zip(state.sides, ends, strict=False))
    return replace(state, sides=sides)


def into(i: int, box: Box, length: int) -> None:
    """Map `i` (all maps, while they are linked) goes on to `box`; what doesn't hold it is left."""
    around = tuple(b for b in trails()[i] if b != box and _within(box, b))
    _put(i, () if box == whole(length) else (*around, box))


def back(i: int, kept: int) -> None:
    """Map `i` (all maps, while they are linked) goes back to the first `kept` of its windows."""
    _put(i, trails()[i][: max(kept, 0)])


def link() -> None:
    """The maps were linked or parted: linked, all look where the last move was."""
    if st.session_state.linked:
        _put(st.session_state.zoomed_last, trails()[st.session_state.zoomed_last])


def fit(lengths: Sequence[int], causal: bool = True) -> list[str]:
    """Cuts the trails to texts of `lengths` tokens, one for each map; a sentence for each window
    that lay, or reached, past its end. `causal`: whether no map has keys after their query."""
    old = trails()
    every = [*lengths, *lengths[-1:] * (len(old) - len(lengths))]  # maps that there may be later
    st.session_state.trails = tuple(
        _cut(trail, length, causal) for trail, length in zip(old, every, strict=True)
    )
    said = []
    for before, now, length in zip(old, trails(), lengths, strict=False):
        if before[-1:] != now[-1:]:
            past = {"length": length, "ranges": ranges(*before[-1])}
            said.append(
                say(
                    "The text has {length:,} tokens and {ranges} reach past them, so {instead} are "
                    "shown.",
                    instead=ranges(*now[-1]),
                    **past,
                )
                if now
                else say(
                    "The text has {length:,} tokens and {ranges} reach past them, so the whole map "
                    "is shown.",
                    **past,
                )
            )
    return list(dict.fromkeys(said))


def whole(length: int) -> Box:
    """The window of all tokens."""
    return (0, length), (0, length)


def wrong(box: Box, length: int, causal: bool = True) -> str | None:
    """A sentence if `box` can't be shown of a text of `length` tokens; `causal` as in `fit`."""
    if not all(0 <= a < b <= length for a, b in box):
        (a, b), (c, d) = box
        return say(
            "Expected queries and keys from 0 to {last:,}, the first not above the last; got "
            "queries {a:,} to {b:,} and keys {c:,} to {d:,}; stay within the text.",
            last=length - 1,
            a=a,
            b=b - 1,
            c=c,
            d=d - 1,
        )
    if causal and not seen(box):
        return say(
            "Expected some key not after some query; {ranges} hold none, so choose earlier keys or "
            "later queries.",
            ranges=ranges(*box),
        )
    return None


def _put(i: int, trail: Trail) -> None:
    every = st.session_state.linked
    st.session_state.trails = tuple(
        trail if every or j == i else old for j, old in enumerate(trails())
    )
    st.session_state.zoomed_last = i


def _within(inner: Box, outer: Box) -> bool:
    return all(a <= c and d <= b for (c, d), (a, b) in zip(inner, outer, strict=True))


def _cut(trail: Trail, length: int, causal: bool) -> Trail:
    """The trail's windows cut to `length`; without those that hold nothing then, or all."""
    cut = (tuple((a, min(b, length)) for a, b in box) for box in trail)
    good = [b for b in cut if wrong(b, length, causal) is None and b != whole(length)]
    return tuple(dict.fromkeys(good))
