"""Heads by kind, position's share and entropy, as grids; and the shift test, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from pages._shared import head_grid, terms
from pages._shared.head_grid import Cell, Grid
from pages.decay import how, portraits
from pages.decay.portraits import Sitter
from viz_core.signatures import kinds
from viz_core.words import mark, say

LETTERS = {
    kinds.DIAGONAL: mark("self"),
    kinds.PREVIOUS: mark("prev"),
    kinds.LOCAL: mark("local"),
    kinds.LONG: mark("far"),
    kinds.INDUCTION: mark("ind"),
    kinds.SINK: mark("sink"),
    kinds.MIXED: "·",
}


def sorted_heads(sitters: Sequence[Sitter]) -> None:
    """Every head's kind, its scores on hover, and how many of each kind there are."""
    st.subheader(
        say("Heads by kind"), anchor=False, help=terms.of("uniform attention", "induction")
    )
    counts = pd.DataFrame(
        {one.name: portraits.statistics(one)["kind"].value_counts() for one in sitters}
    )
    order = [k for k in LETTERS if k in counts.index]
    counts = counts.reindex(order).fillna(0).astype(int).T
    st.markdown("\n".join(_counted(name, row) for name, row in counts.iterrows()))
    head_grid.show([_grid(one, _kind) for one in sitters])
    words = say(", ").join(
        say("“{letters}” {kind}", letters=say(LETTERS[k]), kind=say(k))
        for k in LETTERS
        if say(LETTERS[k]) != say(k)
    )
    st.caption(
        say(
            "Layers are rows, heads are columns; {letters}. The tint is the excess over uniform "
            "attention. On hover, and in the table at the end: every score, and uniform "
            "attention's.",
            letters=words,
        )
    )
    how.show("kinds")


def _counted(name: object, row: pd.Series) -> str:
    parts = [say("{n} {kind}", n=row[kind], kind=say(kind)) for kind in row.index if row[kind]]
    return say("- **{name}**: {counts}.", name=name, counts=say(", ").join(parts))


def _grid(one: Sitter, cell: Callable[[pd.Series], Cell], title: str = "") -> Grid:
    rows = portraits.statistics(one)
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
    words = say("; ").join(
        say("{kind} {value:.3f} (uniform {even:.3f})", kind=say(k), value=v, even=e)
        for k, v, e in scores
    )
    tint = excess[best] if row.kind != kinds.MIXED else 0.0
    words = say("{kind}. {scores}", kind=say(row.kind), scores=words)
    return Cell(say(LETTERS[row.kind]), tint, words)


def shares(sitters: Sequence[Sitter]) -> None:
    """How much of log-attention is position, and how even attention is."""
    st.subheader(say("Position and content"), anchor=False, help=terms.of("entropy"))
    st.markdown("\n".join(_split(one) for one in sitters))
    head_grid.show(
        [
            _grid(one, _position, say("{name}: position's share, %", name=one.name))
            for one in sitters
        ]
    )
    near = sitters[0].portrait.near
    st.caption(
        say(
            "Share of the variance of log-attention within rows that distance alone explains, over "
            "the nearest {near} keys; bold: p ≤ {p:g}. The rest is content.",
            near=near,
            p=portraits.CLEAR,
        )
    )
    head_grid.show(
        [_grid(one, _entropy, say("{name}: entropy, %", name=one.name)) for one in sitters]
    )
    st.caption(
        say(
            "Entropy of attention as a share of uniform attention's over the same keys (100 %), "
            "mean over queries and texts."
        )
    )
    how.show("position")


def _split(one: Sitter) -> str:
    rows = portraits.statistics(one)
    clear = int((rows.position_p <= portraits.CLEAR).sum())
    return say(
        "- **{name}**: distance alone explains {middle} of log-attention in the median head "
        "({least} to {most}), more than chance in {clear} of {heads} heads. Entropy is {entropy} "
        "of uniform attention's.",
        name=one.name,
        middle=portraits.percent(rows.position.median()),
        least=portraits.percent(rows.position.min()),
        most=portraits.percent(rows.position.max()),
        clear=clear,
        heads=len(rows),
        entropy=portraits.percent(rows.entropy.median()),
    )


def _position(row: pd.Series) -> Cell:
    value = float(row.position)
    if np.isnan(value):
        return Cell("–", 0.0, say("log-attention doesn't vary"))
    p = np.nan if pd.isna(row.position_p) else float(row.position_p)
    held = np.nan if pd.isna(row.position_held_out) else float(row.position_held_out)
    words = say(
        "{share} explained, {held} by the curve of the other texts, p {p:.3f}",
        share=portraits.percent(value, 1),
        held=portraits.percent(held, 1),
        p=p,
    )
    return Cell(f"{100 * value:.0f}", value, words, bool(p <= portraits.CLEAR))


def _entropy(row: pd.Series) -> Cell:
    value = float(row.entropy)
    words = say("{share} of uniform attention's", share=portraits.percent(value, 1))
    return Cell(f"{100 * value:.0f}", value, words)


def shift(sitters: Sequence[Sitter]) -> None:
    """How much attention changes when all positions move: one number per checkpoint."""
    st.subheader(say("Shift test"), anchor=False)
    words = say(
        "The same tokens, all positions moved by 100: what acts through distance alone can't "
        "change."
    )
    st.markdown("\n".join([words, *(_moved(one) for one in sitters)]))
    how.show("shift")


def _moved(one: Sitter) -> str:
    change = one.portrait.shift
    if np.isnan(change).all():
        return say(
            "- **{name}**: undefined, since positions so far on have no value.", name=one.name
        )
    layer, head = np.unravel_index(np.nanargmax(change), change.shape)
    mean, most = float(np.nanmean(change)), float(np.nanmax(change))
    if most < 1e-4:
        if most > 0:
            return say(
                "- **{name}**: nothing changes but for rounding ({most:.0e}).",
                name=one.name,
                most=most,
            )
        return say("- **{name}**: nothing changes.", name=one.name)
    return say(
        "- **{name}**: {mean} of attention moves to other keys, in the worst head {most} (layer "
        "{layer}, head {head}).",
        name=one.name,
        mean=portraits.percent(mean, 1),
        most=portraits.percent(most, 1),
        layer=layer + 1,
        head=head + 1,
    )
