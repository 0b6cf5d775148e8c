"""Rows of the tables of losses with attention cut off, and with heads replaced."""

from __future__ import annotations

import pandas as pd

FAR, BEYOND = "far", "beyond"  # places, as in `attribution.places`


def trained(table: pd.DataFrame) -> int:
    return int(table["trained_length"].iloc[0])


def names(table: pd.DataFrame, length: int | None = None) -> list[str]:
    """Checkpoints, those with a value at `length` where one is given."""
    rows = table if length is None else table[(table["length"] == length) & (table["note"] == "")]
    return sorted(rows["checkpoint"].unique())


def texts(table: pd.DataFrame) -> int:
    return int(table["texts"].max())


def of(table: pd.DataFrame, checkpoint: str, length: int, place: str) -> pd.DataFrame:
    """All rows of one checkpoint, length and place."""
    rows = table[(table["checkpoint"] == checkpoint) & (table["length"] == length)]
    return rows[rows["place"] == place]


def cut(
    reaches: pd.DataFrame, checkpoint: str, length: int, reach: int, place: str = FAR
) -> pd.Series:
    """The row of one reach, the first keys cut with the rest."""
    rows = of(reaches, checkpoint, length, place)
    return rows[(rows["reach"] == reach) & (rows["kept"] == 0)].iloc[0]


def together(
    heads: pd.DataFrame, checkpoint: str, length: int, place: str, replacement: str
) -> pd.Series:
    """The row of all heads replaced at once."""
    rows = of(heads, checkpoint, length, place)
    return rows[(rows["replacement"] == replacement) & (rows["layer"] == "all")].iloc[0]


def single(
    heads: pd.DataFrame, checkpoint: str, length: int, place: str, replacement: str
) -> pd.DataFrame:
    """The rows of single heads, layer and head as numbers."""
    rows = of(heads, checkpoint, length, place)
    rows = rows[(rows["replacement"] == replacement) & (rows["layer"] != "all")]
    return rows.astype({"layer": int, "head": int})


def targets(row: pd.Series) -> str:
    return f"positions {int(row['first']):,} to {int(row['last']):,}"


def interval(row: pd.Series) -> str:
    """The difference of a row with its 95 % interval over texts."""
    low, high = row["difference_low"], row["difference_high"]
    return f"{row['difference']:+z.3f} ({low:+z.3f} to {high:+z.3f})"
