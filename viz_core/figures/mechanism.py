"""What attention does as the text grows: small panels by length, one per measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core.figures import _axes
from viz_core.figures.spec import Axis, Chart, Dash, FigureCard, FigureSpec, Line, Values


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
    Measure("entropy_share", "Entropy", "entropy / that of uniform attention"),
    Measure("sink_mass", "Sink", "attention on the first keys"),
    Measure("mean_distance", "Mean distance", "tokens (log scale)", share=False, log=True),
    Measure("unseen_phases", "RoPE's unseen angles", "share of all angles", settings=True),
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
    axis = _axes.lengths([float(n) for s in series for n in s.length], "length N (tokens)")
    for m in MEASURES:
        every = [*series, *varied] if m.settings else series
        known = [s for s in every if np.isfinite(s.values.get(m.column, np.empty(0))).any()]
        if not known:
            continue
        y = [s.values[m.column] for s in known]
        panels.append(
            Chart(
                title=m.title,
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
                y=Axis(m.label, (0.0, max(0.1, 1.06 * max(float(np.nanmax(v)) for v in y))))
                if m.share
                else _axes.values(y, m.label, m.log),
                marks=tuple((float(n), "") for n in sorted({s.trained_length for s in known})),
                marks_on_top=True,
                read="N = {x:,.0f}\n" + ("{y:.3f}" if m.share else "{y:,.1f}"),
            )
        )
    caption = (
        f"Means over all layers and heads and over the last queries of {texts} texts ({text}); "
        "shares are of what uniform attention over the same keys would have. Dotted: the trained "
        "length."
    )
    titles = ", ".join(p.title for p in panels)
    alt = f"{titles} by length: " + "; ".join(s.name for s in series) + ". " + caption
    return FigureSpec(tuple(panels), caption, alt)


FIGURE = FigureCard("mechanism", "What attention does as the text grows", "curves", build)
