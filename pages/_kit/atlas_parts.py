"""What each encoding is made of: the arrays of its own picture, and the same as numbers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import torch

from pages._kit.atlas import Alone, scaling, vectors
from viz_core.encodings.alibi import ALiBi, slopes
from viz_core.encodings.rope import RoPE, frequencies
from viz_core.encodings.sinusoidal import Sinusoidal
from viz_core.encodings.t5 import T5, bucket
from viz_core.figures.encoding_parts import Buckets, Part, Stairs, Vectors, Waves
from viz_core.signatures.reach import SHARES, nominal

POSITIONS = 256  # vectors that are shown, one by one: skipping some would show waves that aren't
PAIRS = 256  # of their channels, at most: neighbouring pairs are all but alike


def part(a: Alone) -> Part | None:
    """What the encoding's own picture shows; None where there is nothing of its own to show."""
    module, trained = a.module, a.module.geometry.length
    if isinstance(module, ALiBi):
        slope = slopes(module.geometry.heads, float(a.values["exponent"])).numpy()
        return Stairs(slope, nominal(slope), SHARES, trained)
    if isinstance(module, T5):
        level = bucket(torch.arange(a.length), module.buckets, module.max_distance)
        return Buckets(level.numpy(), module.buckets, trained)
    if isinstance(module, RoPE):
        theta = module.frequencies(a.length)[0].numpy()
        plain = frequencies(module.geometry.head_dim, module.theta)[0].numpy()
        stretch = scaling(a.values)
        return Waves(theta, plain, trained, module.scaling.kind if stretch else "", stretch)
    if isinstance(module, Sinusoidal):
        assert a.law is not None
        width = module.geometry.width
        pairs = np.linspace(0, width // 2 - 1, min(width // 2, PAIRS)).round().astype(int)
        channel = np.stack((2 * pairs, 2 * pairs + 1), axis=1).ravel()
        shown = vectors(module, range(min(a.length, POSITIONS)))[:, channel]
        return Vectors(shown, channel, a.law[0] / a.law[0, 0], trained)  # all are equally long
    return None


def numbers(p: Part) -> pd.DataFrame:
    """The picture's numbers, a row for each head, bucket, pair or distance; tokens, unless said."""
    match p:
        case Stairs():
            names = [f"{100 * share:.0f} % within" for share in p.shares]
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
