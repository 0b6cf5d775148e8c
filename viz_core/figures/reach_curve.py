"""Loss against reach: what is lost where attention beyond a distance is cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Band, Chart, FigureCard, FigureSpec, Line, Values
from viz_core.words import mark, say, sentences

APART = 0.05  # nats that the axis spans at least, each way


@dataclass(frozen=True)
class Series:
    """One model: what each reach adds to its loss.

    `reach` [reach], rising: the largest distance that attention keeps, tokens. `added` [reach],
    nats per token, with the 95 % interval `low`, `high` over texts, NaN from a single text.
    """

    name: str
    accent: str
    reach: npt.NDArray[np.int64]
    added: Values
    low: Values
    high: Values


@dataclass(frozen=True)
class Side:
    """The curves of one place: the targets with `first` to `last` tokens before them.

    `texts` texts, of which each model reads `length` tokens; the first `kept` keys are never cut.
    """

    place: str
    first: int
    last: int
    series: tuple[Series, ...]
    trained_length: int
    length: int
    texts: int
    kept: int = 0


def build(sides: Sequence[Side]) -> FigureSpec:
    """A chart per side. A reach of the whole length cuts nothing: its 0 is the level, no point."""
    panels = tuple(_chart(s) for s in sides)
    one = sides[0]
    over, targets = _words.texts(one.texts, one.length), _words.rowed(_targets(s) for s in sides)
    cut = (
        say(
            "Loss with attention beyond each distance cut off in all heads, the first {kept} keys "
            "kept, less the loss without a cut, over {over}: targets with {targets}.",
            kept=one.kept,
            over=over,
            targets=targets,
        )
        if one.kept
        else say(
            "Loss with attention beyond each distance cut off in all heads, less the loss without "
            "a cut, over {over}: targets with {targets}.",
            over=over,
            targets=targets,
        )
    )
    caption = sentences(
        cut,
        say(
            "What is cut is shared out among the keys that stay; through several layers influence "
            "still travels further. Below 0 the cut helps."
        ),
        say("L: the trained length, {length:,} tokens.", length=one.trained_length)
        if any(s.trained_length < s.length for s in sides)
        else "",
        say("Bands: 95 % bootstrap intervals over texts.")
        if any(np.isfinite(s.low).any() for side in sides for s in side.series)
        else "",
    )
    names = _words.rowed(dict.fromkeys(s.name for side in sides for s in side.series))
    alt = say("Loss against reach: {names}.", names=names)
    return FigureSpec(panels, caption, sentences(alt, caption))


def _targets(side: Side) -> str:
    return say(
        "{first:,} to {last:,} tokens before them ({place})",
        first=side.first,
        last=side.last,
        place=say(side.place),
    )


def _chart(side: Side) -> Chart:
    lines, seen, reaches = list[Line](), list[Values](), list[float]()
    for s in side.series:
        cuts = s.reach < side.length
        x = s.reach[cuts].astype(np.float64)
        y, low, high = (v[cuts] for v in (s.added, s.low, s.high))
        notes = tuple(
            _words.between(f"{a:+.4f}", f"{b:+.4f}") if np.isfinite(a) else ""
            for a, b in zip(low, high, strict=True)
        )
        lines.append(
            Line(
                *(s.name, x, y, s.accent),
                strong=True,
                band=Band(low, high, say("95 % interval")),
                markers=True,
                label=s.name,
                notes=notes,
            )
        )
        seen += [y, low, high]
        reaches += x.tolist()
    return Chart(
        title=say("Loss against reach · {place}", place=say(side.place)),
        accent="ink",
        lines=tuple(lines),
        x=_axes.lengths(reaches, say("reach: attention ends at this distance (tokens, log scale)")),
        y=_axes.values(seen, say("added loss (nats per token)"), False, (-APART, APART)),
        marks=((float(side.trained_length), "L"),),
        marks_on_top=True,
        levels=((0.0, ""),),
        read=say("reach {x:,.0f}\n{y:+.4f} nats"),
    )


FIGURE = FigureCard("reach-curve", mark("Loss against reach"), "curves", build)
