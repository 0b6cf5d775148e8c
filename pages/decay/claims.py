"""The claims of Decay at a glance: a line per claim, a number per checkpoint, and the null."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages._shared import terms
from pages.decay import portraits, stairs
from pages.decay.portraits import CLEAR, Sitter
from viz_core.words import say

NOTHING = "–"


def show(sitters: Sequence[Sitter]) -> None:
    """The table of claims; one that no checkpoint makes is left out."""
    sizes = {len(portraits.statistics(one)) for one in sitters}
    if len(sizes) == 1:
        (heads,) = sizes
        each, chance = False, f"{CLEAR * heads:.1f}"
        steps = say("Heads with T5's steps, of {heads}", heads=heads)
        ripples = say("Heads with RoPE's ripples, of {heads}", heads=heads)
    else:
        each, chance = True, portraits.percent(CLEAR)
        steps, ripples = say("Heads with T5's steps"), say("Heads with RoPE's ripples")
    claims = {
        say("Slope, off the nominal one"): ([_slope(one) for one in sitters], portraits.percent(1)),
        say("Reach, factor per head"): ([_reach(one) for one in sitters], "1"),
        steps: ([_clear(one, "stairs", each) for one in sitters], chance),
        ripples: ([_clear(one, "ripple", each) for one in sitters], chance),
        say("Explained by distance"): ([_position(one) for one in sitters], portraits.percent(0)),
        say("Changed when positions move"): (
            [_shift(one) for one in sitters],
            portraits.percent(0),
        ),
    }
    table = [["", *(f"**{one.name}**" for one in sitters), say("Null")]]
    table.append(["---", *["---:"] * (len(sitters) + 1)])
    table += [[words, *n, null] for words, (n, null) in claims.items() if set(n) != {NOTHING}]
    st.markdown("\n".join(f"| {' | '.join(row)} |" for row in table))
    st.caption(
        say(
            "Medians over heads; of the factor, over layers. Null: no slope; heads in no order; "
            "how many heads chance alone puts at p ≤ {p:g}; content alone; distance alone.",
            p=CLEAR,
        ),
        help=terms.of("null", "p"),
    )


def _slope(one: Sitter) -> str:
    off = portraits.statistics(one).slope_error.abs()
    return NOTHING if off.isna().all() else portraits.percent(off.median(), 1)


def _reach(one: Sitter) -> str:
    found = [stairs.progression(one, i) for i in range(len(one.portrait.curve))]
    known = [f.factor for f in found if f is not None]
    return f"{np.median(known):.2f}" if known else NOTHING


def _clear(one: Sitter, column: str, each: bool) -> str:
    """In how many heads it is clear; of how many, where `each` checkpoint has its own number."""
    p = portraits.statistics(one)[f"{column}_p"]
    if p.isna().all():
        return NOTHING
    clear = int((p <= CLEAR).sum())
    return say("{clear} of {heads}", clear=clear, heads=len(p)) if each else str(clear)


def _position(one: Sitter) -> str:
    return portraits.percent(portraits.statistics(one).position.median())


def _shift(one: Sitter) -> str:
    change = one.portrait.shift
    return NOTHING if np.isnan(change).all() else portraits.percent(float(np.nanmean(change)))
