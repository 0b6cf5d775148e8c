"""Shipped and own losses with heads replaced and attention cut, as the figures take them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pages._shared import tables
from viz_core import series
from viz_core.attribution import REPLACEMENTS, HeadImportance, Place, Reach
from viz_core.encodings import retold
from viz_core.errors import AtlasError
from viz_core.figures import head_importance, reach_curve
from viz_core.words import say

HEADS, DISTANCE = "attribution-heads", "attribution-distance"


def shipped(kind: str, place: str) -> tuple[pd.DataFrame, str]:
    """(the rows of one place, a sentence for the checkpoints that have none there).

    As trained, in texts of the trained length, or of the largest for what lies beyond it. Raises
    AtlasError where there are none.
    """
    table = tables.shipped(kind)
    if not table.empty:
        table = table[table["setting"] == ""]
        length = table["length"].max() if place == "beyond" else table["trained_length"].max()
        here = table[table["length"] == length]
        lost = here[here["note"] != ""].drop_duplicates("checkpoint")
        words = (
            say(
                " {checkpoint}: {note}.",
                checkpoint=series.name(row["encoding"], "", row["checkpoint"]),
                note=retold(row["note"]),
            )
            for _, row in lost.iterrows()
        )
        if not (rows := here[here["place"] == place]).empty:
            return rows, "".join(words)
    raise AtlasError(
        say(
            "Expected rows for these targets in `checkpoints/results/{kind}.csv`; there are none. "
            "Run `make results`.",
            kind=kind,
        )
    )


def names(rows: pd.DataFrame) -> list[str]:
    """The checkpoints of `rows` in the order of all lists."""
    known = series.ORDER
    return sorted(
        rows["checkpoint"].unique(),
        key=lambda n: (known.index(n) if n in known else len(known), n),
    )


def importance(rows: pd.DataFrame, checkpoint: str, replacement: str) -> head_importance.Side:
    """What each head of `checkpoint` is worth, from `rows` of one place."""
    mine = rows[(rows["checkpoint"] == checkpoint) & (rows["replacement"] == replacement)]
    one = mine.iloc[0]
    heads = mine[mine["layer"] != "all"].astype({"layer": int, "head": int})
    grids = [
        heads.pivot(index="layer", columns="head", values=f"difference{end}").to_numpy(float)
        for end in ("", "_low", "_high")
    ]
    name = series.name(one["encoding"], "", checkpoint)
    return head_importance.Side(
        name, one["encoding"], *grids, texts=int(one["texts"]), length=int(one["length"])
    )


def together(rows: pd.DataFrame, checkpoint: str, replacement: str) -> float:
    """What all heads replaced at once add, nats per token."""
    mine = rows[(rows["checkpoint"] == checkpoint) & (rows["replacement"] == replacement)]
    return float(mine[mine["layer"] == "all"]["difference"].iloc[0])


def of_heads(
    found: HeadImportance, name: str, encoding: str, replacement: str, place: Place
) -> head_importance.Side:
    """The same, of one text."""
    r, p = list(REPLACEMENTS).index(replacement), found.places.index(place)
    added = found.effect[r, :, :, p]
    none = np.full_like(added, np.nan)
    return head_importance.Side(name, encoding, added, none, none, 1, found.length)


def curves(rows: pd.DataFrame, kept: int) -> reach_curve.Side:
    """Loss against reach of every checkpoint, from `rows` of one place."""
    rows = rows[rows["kept"] == kept]
    lines = []
    for checkpoint in names(rows):
        mine = rows[rows["checkpoint"] == checkpoint].sort_values("reach")
        ends = [mine[f"difference{end}"].to_numpy(float) for end in ("", "_low", "_high")]
        encoding = mine["encoding"].iloc[0]
        name = series.name(encoding, "", checkpoint)
        lines.append(reach_curve.Series(name, encoding, mine["reach"].to_numpy(np.int64), *ends))
    one = rows.iloc[0]
    return reach_curve.Side(
        str(one["place"]),
        int(one["first"]),
        int(one["last"]),
        tuple(lines),
        int(one["trained_length"]),
        int(one["length"]),
        int(one["texts"]),
        kept,
    )


def of_reach(
    found: Reach, name: str, encoding: str, trained: int, place: Place
) -> reach_curve.Side:
    """The same of one checkpoint, in one text."""
    loss = found.loss[0, :, found.places.index(place)]
    added, none = loss - loss[-1], np.full(len(loss), np.nan)
    line = reach_curve.Series(name, encoding, np.array(found.reaches), added, none, none)
    return reach_curve.Side(
        place.name, place.first, place.last, (line,), trained, found.length, 1, found.kept
    )
