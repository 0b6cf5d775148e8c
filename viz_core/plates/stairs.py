"""Reach by head: how far each head of a layer attends, next to what its bias alone would give."""

from __future__ import annotations

import numpy as np

from viz_core.figures import stairs
from viz_core.plates import _gathered, _portraits
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.plates._portraits import Sitter
from viz_core.progress import Progress
from viz_core.signatures import reach, summary
from viz_core.words import mark, say


def draw(options: Options, progress: Progress) -> Plot:
    """The heads of one layer of all checkpoints. Raises UsageError for a layer that one hasn't."""
    some = _portraits.sitters(options, progress)
    layer, _ = _portraits.place(some, options["layer"])
    first = some[0].portrait
    keys = say("the first {sink} keys left out", sink=first.sink)
    even = summary.reaches(first, 0)[1]
    spec = stairs.build([_side(one) for one in some], reach.SHARES, even, layer, keys)
    facts = _gathered.facts(first, [layer + 1]) | {"reach": [*reach.SHARES]}
    return Plot(spec, _portraits.sources(some, options), facts)


def _side(one: Sitter) -> stairs.Side:
    p = one.portrait
    measured = np.stack([summary.reaches(p, i)[0] for i in range(len(p.curve))])
    alone = None  # no slope is set
    if p.nominal.any():
        alone = reach.reach(reach.geometric(-p.nominal, p.curve.shape[2]))
    return stairs.Side(one.name, one.accent, measured, alone, p.texts, p.length)


PLATE = Plate(
    "stairs",
    mark("Reach by head"),
    {"checkpoints": ["alibi", "rope"], "layer": 3, **_portraits.COMMON},
    draw,
)
