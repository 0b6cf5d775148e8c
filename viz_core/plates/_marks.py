"""Landmarks of a head that a figure shows, where its option `marks` asks for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from viz_core import variants
from viz_core.encodings.rope import RoPE
from viz_core.plates._places import Place
from viz_core.signatures.landmarks import Landmarks, find
from viz_core.texts import Passage
from viz_core.types import Curve


def of(
    place: Place,
    some: Sequence[Passage],
    curve: Curve,
    law: npt.NDArray[np.float64] | None,
) -> Landmarks:
    """Those of the head at `place`, by the curves and laws of its layer over the texts `some`.

    Raises as `variants.vary`.
    """
    length, theta = len(some[0].ids), np.empty(0)
    encoding = variants.vary(place.checkpoint.load(), place.setting, length).encoding
    if isinstance(encoding, RoPE):
        theta = encoding.frequencies(length)[0].numpy()
    return find(curve, law, place.head, theta)
