"""The table of a sweep as files, as `sweep --out` writes them."""

from __future__ import annotations

import io

import pandas as pd


def csv(rows: pd.DataFrame, command: str) -> bytes:
    """CSV whose first line is the command."""
    return f"# {command}\n{rows.to_csv(index=False, float_format='%.7g')}".encode()


def parquet(rows: pd.DataFrame, command: str) -> bytes:
    """Parquet with the command among its words."""
    out, named = io.BytesIO(), rows.copy()
    named.attrs["command"] = command
    named.to_parquet(out, index=False)
    return out.getvalue()
