"""Stairs of Decay: across heads, how far each reaches; within a head, steps at buckets' edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages._kit import draw, export, export_decay, portray, portray_grid, portray_how
from pages._kit.portray import CLEAR, Sitter
from viz_core.figures import bucket_edges, stairs
from viz_core.signatures import reach, summary

NINETY = reach.SHARES.index(0.9)


def across(sitters: Sequence[Sitter], layer: int) -> None:
    """Reach by head: measured, nominal, and that of uniform attention."""
    st.subheader("Stairs across heads", anchor=False)
    st.markdown("\n".join(_said(one, layer) for one in sitters))
    first = sitters[0].portrait
    spec = stairs.build(
        [_side(one) for one in sitters],
        reach.SHARES,
        summary.reaches(first, 0)[1],
        layer,
        f"the first {first.sink} keys left out",
    )
    draw.charts(spec, key="decay_stairs", height=360)
    leaving = export_decay.shown(spec, "stairs", sitters, layer=layer + 1)
    export.row(leaving, "decay_stairs")
    st.caption(spec.caption)
    portray_how.show("reach")


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
        return f"- **{one.name}**: fewer than 3 heads make no progression."
    unit = "per head" if _number(one)[1] else "per halving of the slope"
    words = (
        f"- **{one.name}**, layer {layer + 1}: the 90 % reach grows by a factor of "
        f"{found.factor:.2f} {unit} (95 %: {found.low:.2f} to {found.high:.2f}; p {found.p:.3f} "
        "against shuffled heads)"
    )
    alone = _nominal(one)
    if alone is None:
        return words + "."
    set_ = reach.progression(alone[:, NINETY], _number(one)[0])
    return words + f"; that of its bias alone by {set_.factor:.2f}."


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
    st.subheader("Stairs within a head", anchor=False)
    st.markdown(
        "\n".join(passed(one, "stairs", "step at the edges of T5's buckets") for one in sitters)
    )
    sides = []
    for one in sitters:
        p, row = one.portrait, portray.row(one, place)
        curves = p.curve[place], p.error[place], p.law[place]
        found = float(row.stairs), float(row.stairs_p)
        sides.append(
            bucket_edges.Side(one.name, one.accent, *curves, p.edges, *found, p.texts, p.length)
        )
    spec = bucket_edges.build(sides, f"layer {place[0] + 1}, head {place[1] + 1}")
    draw.charts(spec, key="decay_edges", height=330, across=3)
    where = {"layer": place[0] + 1, "heads": [place[1] + 1]}
    leaving = export_decay.shown(spec, "bucket-edges", sitters, **where)
    export.row(leaving, "decay_edges")
    st.caption(spec.caption)
    grid(sitters, "stairs", "stairs_p", "score {:.3f}, p {:.3f}")
    st.caption(f"Score by layer (rows) and head (columns); bold: p ≤ {CLEAR:g}.")
    portray_how.show("steps")


def passed(one: Sitter, column: str, what: str, score: str = "the score is") -> str:
    """In how many heads a statistic is clear, against how many chance would have, in words.

    `score` says what the statistic is called.
    """
    rows = portray.statistics(one)
    p, value = rows[f"{column}_p"], rows[column]
    if p.isna().all():
        return f"- **{one.name}**: the text is too short to tell."
    clear, heads = int((p <= CLEAR).sum()), len(rows)
    middle = portray.number(value.median(), 2)
    if f"{column}_even" in rows:
        middle += f", {portray.number(rows[f'{column}_even'].median(), 2)} for random ones"
    return (
        f"- **{one.name}**: {clear} of {heads} heads {what} (p ≤ {CLEAR:g}; chance alone: "
        f"{CLEAR * heads:.1f}); in the median head {score} {middle}."
    )


def grid(sitters: Sequence[Sitter], column: str, p: str, words: str) -> None:
    """A statistic of every head as a grid, bold where its p-value is clear."""
    grids = []
    for one in sitters:
        rows = portray.statistics(one)
        cells = [
            portray_grid.Cell(
                "–" if v != v else portray.number(v, 2).replace("0.", "."),
                0.0 if v != v else float(v),
                "no value" if v != v else words.format(v, chance),
                bool(chance <= CLEAR),
            )
            for v, chance in zip(rows[column], rows[p], strict=True)
        ]
        across = one.portrait.curve.shape[1]
        grids.append(
            portray_grid.Grid(
                one.name, one.accent, [cells[i : i + across] for i in range(0, len(cells), across)]
            )
        )
    portray_grid.show(grids)
