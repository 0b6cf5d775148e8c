"""A map of attention beside the map of what of it is used: one head, one text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from viz_core.figures import _words, attention_maps
from viz_core.figures.spec import FigureCard, FigureSpec, Heatmap, Scale, Values
from viz_core.words import mark, say, sentences

SHARE = 0.99  # of the attributions that are not 0: the scale's ends leave out the others
FINEST = 512  # cells on a side, at most


def build(
    attention: attention_maps.Side, attribution: Values, target: str, linear: bool = False
) -> FigureSpec:
    """Two panels: `attention`, and `attribution` [query, key] of the same head and text.

    Attribution is in nats of what is explained, which `target` says in words, of single pairs of
    tokens from the first one on; a cell shows the sum of its pairs, so that nothing gets lost.
    """
    left = attention_maps.build([attention], linear)
    (shown,) = left.panels
    size = len(attribution)
    cell = -(-size // FINEST)
    value, count = pooled(np.asarray(attribution, np.float64), cell)
    right = Heatmap(
        title=say("{title}: attribution", title=attention.title),
        accent=attention.encoding,
        value=np.where(count > 0, value, np.nan).astype(np.float32),
        count=count,
        rows=(0, size),
        columns=(0, size),
        cell=cell,
        unit="nats",
        scale=_scale(value),
        mark=attention.trained_length,
        where=_words.where(say("all {length:,} tokens", length=size), cell),
        of=say("attribution"),
    )
    said = (
        say(
            "Right: what that attention adds to {target}, by integrated gradients on the head's "
            "pattern: one text, no mean over texts, each cell the sum of its pairs; the scale's "
            "ends hold {share:.0%} of what is not 0. Below 0 attention works against it.",
            target=target,
            share=SHARE,
        )
        if cell > 1
        else say(
            "Right: what that attention adds to {target}, by integrated gradients on the head's "
            "pattern: one text, no mean over texts; the scale's ends hold {share:.0%} of what is "
            "not 0. Below 0 attention works against it.",
            target=target,
            share=SHARE,
        )
    )
    caption = sentences(left.caption, said)
    alt = say("Attention and its attribution: {title}.", title=attention.title)
    return FigureSpec((shown, right), caption, sentences(alt, caption))


def pooled(
    value: npt.NDArray[np.float64], cell: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Sums of value [query, key] over cells of `cell` tokens, and how many pairs each holds."""
    size = len(value)
    starts = np.arange(0, size, cell)
    sums = np.add.reduceat(np.add.reduceat(value, starts, axis=0), starts, axis=1)
    seen = np.tril(np.ones((size, size), np.int64))
    return sums, np.add.reduceat(np.add.reduceat(seen, starts, axis=0), starts, axis=1)


def _scale(value: npt.NDArray[np.float64]) -> Scale:
    seen = np.abs(value[value != 0])
    top = float(np.quantile(seen, SHARE)) if len(seen) else 1.0
    ticks = tuple((v, f"{v:+.2g}".replace("-", "−") if v else "0") for v in (-top, 0.0, top))
    return Scale("balance", -top, top, say("attribution (nats)"), ticks)


FIGURE = FigureCard("attribution-map", mark("Attention and what of it is used"), "maps", build)
