"""Where to look in what Compare shows: each head's landmarks, found once for all who ask."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from pages._shared import loaded
from pages._shared.shelf import Shelf
from pages.compare.state import SideState
from viz_core.catalogue import Checkpoint
from viz_core.encodings.rope import RoPE
from viz_core.signatures.landmarks import Landmarks, find
from viz_core.survey import Survey
from viz_core.texts import Passage

# Of the server, as in `device`.
known: Shelf[Landmarks] = Shelf(4096)  # so many


def of(side: SideState, found: Survey, one: Checkpoint, some: Sequence[Passage]) -> Landmarks:
    """Those of the head of `side`, by the curve and the law of its survey `found` over `some`."""
    key: Hashable = (one.sha256, side.layer, side.head, tuple(p.sha256 for p in some))
    marks = known.get(key)
    if marks is None:
        encoding, theta = loaded.model(one).encoding, np.empty(0)
        if isinstance(encoding, RoPE):
            theta = encoding.frequencies(len(some[0].ids))[0].numpy()
        marks = find(found.curves[side.layer], found.laws[side.layer], side.head, theta)
        known.put(key, marks, 1)
    return marks
