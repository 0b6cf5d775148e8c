"""Stairs of Decay: across heads, how far each reaches; within a head, steps at buckets' edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages._shared import draw, export, head_grid, terms
from pages.decay import exports, how, portraits
from pages.decay.portraits import CLEAR, Sitter
from viz_core.figures import bucket_edges, stairs
from viz_core.signatures import reach, summary
from viz_core.words import mark, say

NINETY = reach.SHARES.index(0.9)
STEPS = mark(
    "- **{name}**: {clear} of {heads} heads step at the edges of T5's buckets (p ≤ {p:g}; chance "
    "alone: {chance:.1f}); in the median head the score is {middle}."
)
CELL = mark("score {value:.3f}, p {p:.3f}")


def across(sitters: Sequence[Sitter], layer: int) -> None:
    """Reach by head: measured, nominal, and that of uniform attention."""
    st.subheader(say("Stairs across heads"), anchor=False, help=terms.of("staircase", "reach"))
    st.markdown("\n".join(_said(one, layer) for one in sitters))
    first = sitters[0].portrait
    spec = stairs.build(
        [_side(one) for one in sitters],
        reach.SHARES,
        summary.reaches(first, 0)[1],
        layer,
        say("the first {sink} keys left out", sink=first.sink),
    )
    draw.charts(spec, key="decay_stairs", height=360)
    leaving = exports.shown(spec, "stairs", sitters, layer=layer + 1)
    export.row(leaving, "decay_stairs")
    st.caption(spec.caption)
    how.show("reach")


def _side(one: Sitter) -> stairs.Side:
    p = one.portrait
    measured = np.stack([summary.reaches(p, i)[0] for i in range(len(p.curve))])
    return stairs.Side(one.name, one.accent, measured, _nominal(one), p.texts, p.length)


def _nominal(one: Sitter) -> np.ndarray | None:
    """Reach of the bias alone [head, share]; None where no slope is set."""
    p = one.portrait
    if not p.nominal.any():
        return None
    return reach.reach(reach.geometric(-p.nominal, p.curve.shape[2]))


def _said(one: Sitter, layer: int) -> str:
    """By what factor reach grows from head to head, in words."""
    found = progression(one, layer)
    if found is None:
        return say("- **{name}**: fewer than 3 heads make no progression.", name=one.name)
    measured: dict[str, object] = {
        "name": one.name,
        "layer": layer + 1,
        "unit": say("per head") if _number(one)[1] else say("per halving of the slope"),
        "factor": found.factor,
        "low": found.low,
        "high": found.high,
        "p": found.p,
    }
    alone = _nominal(one)
    if alone is None:
        return say(
            "- **{name}**, layer {layer}: the 90 % reach grows by a factor of {factor:.2f} {unit} "
            "(95 %: {low:.2f} to {high:.2f}; p {p:.3f} against shuffled heads).",
            **measured,
        )
    return say(
        "- **{name}**, layer {layer}: the 90 % reach grows by a factor of {factor:.2f} {unit} "
        "(95 %: {low:.2f} to {high:.2f}; p {p:.3f} against shuffled heads); that of its bias alone "
        "by {alone:.2f}.",
        alone=reach.progression(alone[:, NINETY], _number(one)[0]).factor,
        **measured,
    )


def progression(one: Sitter, layer: int) -> reach.Progression | None:
    """By what factor the 90 % reach grows from head to head; None for fewer than 3 heads."""
    measured = summary.reaches(one.portrait, layer)[0][:, NINETY]
    return reach.progression(measured, _number(one)[0]) if len(measured) > 2 else None


def _number(one: Sitter) -> tuple[np.ndarray, bool]:
    """(what reach is set against [head], whether that is the head's number).

    Where nominal slopes form no one geometric series (12 heads), it is how often they are halved.
    """
    p = one.portrait
    heads = np.arange(1.0, p.curve.shape[1] + 1)
    if not p.nominal.any():
        return heads, True
    halved = -np.log2(-p.nominal)
    even = np.allclose(np.diff(halved, n=2), 0)
    return (heads, True) if even else (halved, False)


def within(sitters: Sequence[Sitter], place: tuple[int, int]) -> None:
    """A head's curve on the edges of T5's buckets, and the score of every head."""
    st.subheader(say("Stairs within a head"), anchor=False, help=terms.of("bucket"))
    st.markdown("\n".join(passed(one, "stairs", STEPS) for one in sitters))
    sides = []
    for one in sitters:
        p, row = one.portrait, portraits.row(one, place)
        curves = p.curve[place], p.error[place], p.law[place]
        found = float(row.stairs), float(row.stairs_p)
        sides.append(
            bucket_edges.Side(one.name, one.accent, *curves, p.edges, *found, p.texts, p.length)
        )
    head = say("layer {layer}, head {head}", layer=place[0] + 1, head=place[1] + 1)
    spec = bucket_edges.build(sides, head)
    draw.charts(spec, key="decay_edges", height=330, across=3)
    where = {"layer": place[0] + 1, "heads": [place[1] + 1]}
    leaving = exports.shown(spec, "bucket-edges", sitters, **where)
    export.row(leaving, "decay_edges")
    st.caption(spec.caption)
    grid(sitters, "stairs", "stairs_p", CELL)
    st.caption(say("Score by layer (rows) and head (columns); bold: p ≤ {p:g}.", p=CLEAR))
    how.show("steps")


def passed(one: Sitter, column: str, message: str) -> str:
    """In how many heads a statistic is clear, against how many chance would have.

    `message` says it, with fields as STEPS has them; {even} is what random ones have, where the
    statistic knows it.
    """
    rows = portraits.statistics(one)
    p, value = rows[f"{column}_p"], rows[column]
    if p.isna().all():
        return say("- **{name}**: the text is too short to tell.", name=one.name)
    even = rows[f"{column}_even"].median() if f"{column}_even" in rows else np.nan
    return say(
        message,
        name=one.name,
        clear=int((p <= CLEAR).sum()),
        heads=len(rows),
        p=CLEAR,
        chance=CLEAR * len(rows),
        middle=portraits.number(value.median(), 2),
        even=portraits.number(even, 2),
    )


def grid(sitters: Sequence[Sitter], column: str, p: str, message: str) -> None:
    """A statistic of every head as a grid, bold where its p-value is clear.

    On hover `message`, with the fields {value} and {p}.
    """
    grids = []
    for one in sitters:
        rows = portraits.statistics(one)
        cells = [
            head_grid.Cell(
                "–" if v != v else portraits.number(v, 2).replace("0.", "."),
                0.0 if v != v else float(v),
                say("no value") if v != v else say(message, value=v, p=chance),
                bool(chance <= CLEAR),
            )
            for v, chance in zip(rows[column], rows[p], strict=True)
        ]
        across = one.portrait.curve.shape[1]
        grids.append(
            head_grid.Grid(
                one.name, one.accent, [cells[i : i + across] for i in range(0, len(cells), across)]
            )
        )
    head_grid.show(grids)
