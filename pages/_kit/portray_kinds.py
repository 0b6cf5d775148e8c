"""Heads by kind, position's share and entropy, as grids; and the shift test, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from pages._kit import portray, portray_grid, portray_how
from pages._kit.portray import Sitter
from pages._kit.portray_grid import Cell, Grid
from viz_core.signatures import kinds

LETTERS = {
    kinds.DIAGONAL: "self",
    kinds.PREVIOUS: "prev",
    kinds.LOCAL: "local",
    kinds.LONG: "far",
    kinds.INDUCTION: "ind",
    kinds.SINK: "sink",
    kinds.MIXED: "·",
}


def sorted_heads(sitters: Sequence[Sitter]) -> None:
    """Every head's kind, its scores on hover, and how many of each kind there are."""
    st.subheader("Heads by kind", anchor=False)
    counts = pd.DataFrame(
        {one.name: portray.statistics(one)["kind"].value_counts() for one in sitters}
    )
    order = [k for k in LETTERS if k in counts.index]
    counts = counts.reindex(order).fillna(0).astype(int).T
    st.markdown("\n".join(_counted(name, row) for name, row in counts.iterrows()))
    portray_grid.show([_grid(one, _kind) for one in sitters])
    words = ", ".join(f"“{LETTERS[k]}” {k}" for k in LETTERS if LETTERS[k] != k)
    st.caption(
        f"Layers are rows, heads are columns; {words}. The tint is the excess over uniform "
        "attention. On hover, and in the table at the end: every score, and uniform attention's."
    )
    portray_how.show("kinds")


def _counted(name: object, row: pd.Series) -> str:
    parts = [f"{n} {kind}" for kind, n in row.items() if n]
    return f"- **{name}**: {', '.join(parts)}."


def _grid(one: Sitter, cell: Callable[[pd.Series], Cell], title: str = "") -> Grid:
    rows = portray.statistics(one)
    cells = [cell(row) for _, row in rows.iterrows()]
    across = one.portrait.curve.shape[1]
    table = [cells[i : i + across] for i in range(0, len(cells), across)]
    return Grid(title or one.name, one.accent, table)


def _kind(row: pd.Series) -> Cell:
    scores = []
    for kind in LETTERS:
        column = kind.replace(" ", "_")
        if column in row and not pd.isna(row[column]):
            value, even = float(row[column]), float(row[f"{column}_even"])
            scores.append((kind, value, even))
    excess = {k: (v - e) / (1 - e) for k, v, e in scores}
    best = max(excess, key=excess.__getitem__)
    words = "; ".join(f"{k} {v:.3f} (uniform {e:.3f})" for k, v, e in scores)
    tint = excess[best] if row.kind != kinds.MIXED else 0.0
    return Cell(LETTERS[row.kind], tint, f"{row.kind}. {words}")


def shares(sitters: Sequence[Sitter]) -> None:
    """How much of log-attention is position, and how even attention is."""
    st.subheader("Position and content", anchor=False)
    st.markdown("\n".join(_split(one) for one in sitters))
    portray_grid.show(
        [_grid(one, _position, f"{one.name}: position's share, %") for one in sitters]
    )
    near = sitters[0].portrait.near
    st.caption(
        "Share of the variance of log-attention within rows that distance alone explains, over "
        f"the nearest {near} keys; bold: p ≤ {portray.CLEAR:g}. The rest is content."
    )
    portray_grid.show([_grid(one, _entropy, f"{one.name}: entropy, %") for one in sitters])
    st.caption(
        "Entropy of attention as a share of uniform attention's over the same keys (100 %), mean "
        "over queries and texts."
    )
    portray_how.show("position")


def _split(one: Sitter) -> str:
    rows = portray.statistics(one)
    clear = int((rows.position_p <= portray.CLEAR).sum())
    return (
        f"- **{one.name}**: distance alone explains {portray.percent(rows.position.median())} of "
        f"log-attention in the median head ({portray.percent(rows.position.min())} to "
        f"{portray.percent(rows.position.max())}), more than chance in {clear} of {len(rows)} "
        f"heads. Entropy is {portray.percent(rows.entropy.median())} of uniform attention's."
    )


def _position(row: pd.Series) -> Cell:
    value = float(row.position)
    if np.isnan(value):
        return Cell("–", 0.0, "log-attention doesn't vary")
    p = np.nan if pd.isna(row.position_p) else float(row.position_p)
    held = np.nan if pd.isna(row.position_held_out) else float(row.position_held_out)
    words = f"{portray.percent(value, 1)} explained, {portray.percent(held, 1)} by the curve of "
    words += f"the other texts, p {p:.3f}"
    return Cell(f"{100 * value:.0f}", value, words, bool(p <= portray.CLEAR))


def _entropy(row: pd.Series) -> Cell:
    value = float(row.entropy)
    return Cell(f"{100 * value:.0f}", value, f"{portray.percent(value, 1)} of uniform attention's")


def shift(sitters: Sequence[Sitter]) -> None:
    """How much attention changes when all positions move: one number per checkpoint."""
    st.subheader("Shift test", anchor=False)
    st.markdown(
        "The same tokens, all positions moved by 100: what acts through distance alone can't "
        "change.\n" + "\n".join(_moved(one) for one in sitters)
    )
    portray_how.show("shift")


def _moved(one: Sitter) -> str:
    change = one.portrait.shift
    if np.isnan(change).all():
        return f"- **{one.name}**: undefined, since positions so far on have no value."
    layer, head = np.unravel_index(np.nanargmax(change), change.shape)
    mean, most = float(np.nanmean(change)), float(np.nanmax(change))
    if most < 1e-4:
        rounding = f" but for rounding ({most:.0e})" * (most > 0)
        return f"- **{one.name}**: nothing changes{rounding}."
    return (
        f"- **{one.name}**: {portray.percent(mean, 1)} of attention moves to other keys, in the "
        f"worst head {portray.percent(most, 1)} (layer {layer + 1}, head {head + 1})."
    )
