"""Slopes of all heads of a checkpoint: what its encoding set against what is measured."""

from __future__ import annotations

import numpy as np

from viz_core.errors import UsageError
from viz_core.figures import slopes
from viz_core.plates import _gathered, _places, _portraits
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.plates._portraits import Sitter
from viz_core.progress import Progress
from viz_core.signatures import slope
from viz_core.words import mark, say


def draw(options: Options, progress: Progress) -> Plot:
    """One checkpoint. Raises UsageError for several, or one whose encoding sets no slopes."""
    checkpoint = _places.one_checkpoint(options)
    (one,) = _portraits.sitters(options, progress)
    p = one.portrait
    if not p.nominal.any():
        raise UsageError(
            say(
                "Expected a checkpoint whose encoding sets slopes, as ALiBi does; got "
                "{checkpoint}.",
                checkpoint=checkpoint.id,
            )
        )
    spec = slopes.build(_side(one))
    facts = _gathered.facts(p, list(range(1, len(p.curve) + 1)))
    return Plot(spec, _portraits.sources([one], options), facts)


def _side(one: Sitter) -> slopes.Side:
    p = one.portrait
    found = [slope.compare(p.slope[:, i], p.nominal) for i in range(p.slope.shape[1])]
    relative = np.abs(np.stack([f.relative for f in found]))
    return slopes.Side(
        name=one.name,
        accent=one.accent,
        nominal=p.nominal,
        value=np.stack([f.value for f in found]),
        low=np.stack([f.low for f in found]),
        high=np.stack([f.high for f in found]),
        error=float(np.nanmedian(relative)),
        texts=p.texts,
        length=p.length,
    )


PLATE = Plate(
    "slopes",
    mark("Slopes, nominal and measured"),
    {"checkpoints": ["alibi"], **_portraits.COMMON},
    draw,
)
