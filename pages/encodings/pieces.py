"""What each encoding is made of, as numbers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from viz_core.alone.parts import part
from viz_core.figures.encoding_parts import Buckets, Part, Stairs, Vectors, Waves
from viz_core.words import mark, say

__all__ = ["label", "numbers", "part"]

LABELS = {  # of columns, whose names stay as they are in a file
    "head": mark("head"),
    "slope": mark("slope"),
    "bucket": mark("bucket"),
    "first distance": mark("first distance"),
    "last distance": mark("last distance"),
    "pair": mark("pair"),
    "wavelength": mark("wavelength"),
    "before scaling": mark("before scaling"),
    "turns within L": mark("turns within L"),
    "distance": mark("distance"),
    "cosine": mark("cosine"),
}
WITHIN = " % within"  # the end of a column's name, after the share


def numbers(p: Part) -> pd.DataFrame:
    """The picture's numbers, a row for each head, bucket, pair or distance; tokens, unless said."""
    match p:
        case Stairs():
            names = [f"{100 * share:.0f}{WITHIN}" for share in p.shares]
            slope = {"head": np.arange(len(p.slope)) + 1, "slope": p.slope}
            return pd.DataFrame(slope | dict(zip(names, p.reach.T, strict=True)))
        case Buckets():
            rows = pd.DataFrame(p.spans, columns=["bucket", "first distance", "last distance"])
            rows = rows.astype({"last distance": "Int64"})
            if p.spans[-1][0] == p.buckets - 1:  # it has no end, only the picture has
                rows.loc[len(rows) - 1, "last distance"] = pd.NA
            return rows
        case Waves():
            wave = 2 * math.pi / p.theta
            rows = {"pair": np.arange(len(wave)), "θ": p.theta, "wavelength": wave}
            before = {"before scaling": 2 * math.pi / p.plain} if p.scaling else {}
            return pd.DataFrame(rows | before | {"turns within L": p.trained_length / wave})
        case Vectors():
            rows = np.arange(len(p.similarity))
            return pd.DataFrame({"distance": rows, "cosine": p.similarity})


def label(column: str) -> str:
    """What a column of `numbers` is called on the page."""
    if column.endswith(WITHIN):
        return say("{share} % within", share=column.removesuffix(WITHIN))
    return say(LABELS.get(column, column))
