"""What attention does as the text grows: small panels by length, one per measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes, _words
from viz_core.figures.spec import Axis, Chart, Dash, FigureCard, FigureSpec, Line, Values
from viz_core.words import mark, say, sentences


@dataclass(frozen=True)
class Measure:
    """One panel: the column that it shows, and its words; a `share` runs from 0 to 1."""

    column: str
    title: str
    label: str
    share: bool = True
    log: bool = False
    settings: bool = False  # drawn under other settings too


MEASURES = (
    Measure("entropy_share", mark("Entropy"), mark("entropy / that of uniform attention")),
    Measure("sink_mass", mark("Sink"), mark("attention on the first keys")),
    Measure(
        "mean_distance", mark("Mean distance"), mark("tokens (log scale)"), share=False, log=True
    ),
    Measure(
        "unseen_phases", mark("RoPE's unseen angles"), mark("share of all angles"), settings=True
    ),
)


@dataclass(frozen=True)
class Series:
    """One model under one setting, by length: each measure's values [length], NaN if undefined."""

    name: str
    label: str
    accent: str
    trained_length: int
    length: npt.NDArray[np.int64]
    values: Mapping[str, Values]
    dash: Dash = "solid"
    shade: float | None = None


def build(
    series: Sequence[Series], text: str, texts: int, varied: Sequence[Series] = ()
) -> FigureSpec:
    """One panel per measure that any of the `series` knows, all on the same lengths.

    `varied` are models under other settings, for the measures that are drawn for them too.
    """
    panels = []
    axis = _axes.lengths([float(n) for s in series for n in s.length], say("length N (tokens)"))
    for m, known in shown(series, varied):
        y, label = [s.values[m.column] for s in known], say(m.label)
        panels.append(
            Chart(
                title=say(m.title),
                accent="ink",
                lines=tuple(
                    Line(
                        *(s.name, s.length.astype(np.float64), v, s.accent, s.shade, s.dash),
                        strong=True,
                        markers=True,
                        label=s.label,
                    )
                    for s, v in zip(known, y, strict=True)
                ),
                x=axis,
                y=Axis(label, (0.0, max(0.1, 1.06 * max(float(np.nanmax(v)) for v in y))))
                if m.share
                else _axes.values(y, label, m.log),
                marks=tuple((float(n), "") for n in sorted({s.trained_length for s in known})),
                marks_on_top=True,
                read="N = {x:,.0f}\n" + ("{y:.3f}" if m.share else "{y:,.1f}"),
            )
        )
    caption = say(
        "Means over all layers and heads and over the last queries of {texts} texts ({text}); "
        "shares are of what uniform attention over the same keys would have. Dotted: the trained "
        "length.",
        texts=texts,
        text=text,
    )
    alt = say(
        "{titles} by length: {names}.",
        titles=_words.listed(p.title for p in panels),
        names=_words.rowed(s.name for s in series),
    )
    return FigureSpec(tuple(panels), caption, sentences(alt, caption))


def shown(
    series: Sequence[Series], varied: Sequence[Series] = ()
) -> list[tuple[Measure, list[Series]]]:
    """Each measure that has a panel, with the models that are drawn in it."""
    found = []
    for m in MEASURES:
        every = [*series, *varied] if m.settings else series
        known = [s for s in every if np.isfinite(s.values.get(m.column, np.empty(0))).any()]
        found += [(m, known)] if known else []
    return found


FIGURE = FigureCard("mechanism", mark("What attention does as the text grows"), "curves", build)
