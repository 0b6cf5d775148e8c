"""Stairs across heads: how far each head of a layer reaches, head by head."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, Dash, FigureCard, FigureSpec, Line
from viz_core.words import mark, say, sentences

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """The reach of a checkpoint's heads, tokens: [layer, head, share], over `texts` texts.

    nominal [head, share]: that of the encoding's bias alone over the same queries; None where it
    sets none.
    """

    name: str
    accent: str
    reach: Array
    nominal: Array | None
    texts: int
    length: int


def build(
    sides: Sequence[Side], shares: Sequence[float], even: Array, layer: int, keys: str
) -> FigureSpec:
    """One panel per share of the attention; `even` [share] is the reach of uniform attention.

    The heads of `layer` (from 0) stand out, the other layers are faint. `keys` says what became
    of the first keys.
    """
    seen = [s.reach for s in sides] + [s.nominal for s in sides if s.nominal is not None]
    low = 2.0 ** math.floor(math.log2(min(float(v.min()) for v in seen)))
    high = 1.5 * max(float(even.max()), *(float(v.max()) for v in seen))
    ticks = [2.0**n for n in range(int(math.log2(low)), int(math.log2(high)) + 1)]
    y = Axis(say("reach (tokens)"), (low / 1.2, high), True, _axes.labelled(ticks))
    heads = max(s.reach.shape[1] for s in sides)
    x = Axis(say("head"), (0.4, heads + 0.6), False, _axes.labelled(range(1, heads + 1)))
    panels = tuple(
        Chart(
            title=say("{share:.0f} % of attention", share=100 * share),
            accent="ink",
            lines=tuple(line for s in sides for line in _lines(s, layer, i)),
            x=x,
            y=y,
            levels=((float(even[i]), say("uniform attention")),),
            read=say("{y:,.1f} tokens"),
        )
        for i, share in enumerate(shares)
    )
    over = _words.texts(sides[0].texts, sides[0].length)
    caption = say(
        "The distance within which each head of layer {layer} spends so much of its attention, "
        "{keys}, over all queries of {over}; faint: the other layers. Dashed: the encoding's bias "
        "alone over the same queries. Dotted: uniform attention over the keys that each query "
        "sees.",
        layer=layer + 1,
        keys=keys,
        over=over,
    )
    alt = say("Reach by head: {names}.", names=_words.listed(s.name for s in sides))
    return FigureSpec(panels, caption, sentences(alt, caption))


def _lines(side: Side, layer: int, share: int) -> list[Line]:
    lines = [
        _stairs(
            say("{name}, layer {layer}", name=side.name, layer=i + 1),
            side.accent,
            reach[:, share],
            group=say("{name}, other layers", name=side.name),
        )
        for i, reach in enumerate(side.reach)
        if i != layer
    ]
    if side.nominal is not None:
        name = say("{name}, nominal", name=side.name)
        lines.append(_stairs(name, "ink", side.nominal[:, share], dash="dash"))
    lines.append(_stairs(side.name, side.accent, side.reach[layer, :, share], label=side.name))
    return lines


def _stairs(
    name: str, accent: str, reach: Array, dash: Dash = "solid", label: str = "", group: str = ""
) -> Line:
    """A step per head, as wide as the place between it and its neighbours."""
    heads = np.arange(1, len(reach) + 1)
    return Line(
        name,
        np.stack((heads - 0.5, heads + 0.5), axis=1).ravel(),
        np.repeat(reach, 2),
        accent,
        dash=dash,
        strong=bool(label),
        label=label,
        notes=tuple(say("head {head}", head=h) for h in heads for _ in range(2)),
        group=group,
    )


FIGURE = FigureCard("stairs", mark("Reach by head"), "curves", build)
