"""What each encoding is made of: the arrays of its own picture."""

from __future__ import annotations

import numpy as np
import torch

from viz_core.alone import Alone, vectors
from viz_core.alone.words import scaling
from viz_core.encodings.alibi import ALiBi, slopes
from viz_core.encodings.rope import RoPE
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
    if isinstance(module, RoPE) and module.rotary:
        theta, stretch = module.frequencies(a.length)[0].numpy(), scaling(a.values)
        return Waves(
            theta,
            module.plain(module.theta).numpy(),
            trained,
            module.scaling.kind if stretch else "",
            stretch,
            a.card.id,
            a.card.name,
        )
    if isinstance(module, Sinusoidal):
        assert a.law is not None
        width = module.geometry.width
        pairs = np.linspace(0, width // 2 - 1, min(width // 2, PAIRS)).round().astype(int)
        channel = np.stack((2 * pairs, 2 * pairs + 1), axis=1).ravel()
        shown = vectors(module, range(min(a.length, POSITIONS)))[:, channel]
        return Vectors(shown, channel, a.law[0] / a.law[0, 0], trained)  # all are equally long
    return None
