"""Portrait: what was measured of all heads of one checkpoint, from which statistics are taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Portrait:
    """Means over `texts` texts of `length` tokens, by layer, head and distance.

    The first `sink` keys are left out unless said otherwise; `trained` is the trained length in
    tokens, `setting` that of the encoding ("" as trained). Arrays:
    - curve, error: the row-fixed-effects fit of log-attention and its standard error by text, nats
      up to a constant; with_sink: the same curve with the first keys in; logit: the plain mean of
      logits; probability: the plain mean of probabilities (biased); law: the encoding's own curve,
      NaN where it has none. Each [layer, head, distance], over `pairs` [distance];
    - slope [text, layer, head], nats per token; nominal [head], 0 where no slope is set;
    - sink_mass, induction, entropy_share [layer, head]: probability of the first keys, prefix
      matching, entropy as a share of uniform attention's; sink_even and induction_even: what
      uniform attention has in their place;
    - explained, held_out, chance [layer, head]: `split` over the `near` nearest keys;
    - edges: the first distance of each of T5's buckets, this checkpoint's or the usual ones;
    - theta [pair], radians per token; query_norm, key_norm [layer, head, pair]: of RoPE, or empty;
    - shift [layer, head]: how much attention changes when all positions move by 100: the mean over
      queries of the total variation, 0 for relative encodings and 1 at most.
    """

    encoding: str
    setting: str
    trained: int
    length: int
    texts: int
    sink: int
    near: int
    curve: Array
    error: Array
    with_sink: Array
    logit: Array
    probability: Array
    law: Array
    pairs: Integers
    slope: Array
    nominal: Array
    sink_mass: Array
    sink_even: float
    induction: Array
    induction_even: float
    entropy_share: Array
    explained: Array
    held_out: Array
    chance: Array
    edges: Integers
    theta: Array
    query_norm: Array
    key_norm: Array
    shift: Array
