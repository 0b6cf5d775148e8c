"""What heads and distance are worth: shipped losses of all checkpoints, and of one's own text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import streamlit as st

from pages._shared import draw, export, head_grid, tables, terms
from pages._shared.export import Shown
from pages._shared.head_grid import Cell, Grid
from pages.attribution import controls, exports, losses, results, wait
from pages.attribution.state import AttributionState
from viz_core import series
from viz_core.attribution import REPLACEMENTS, Place
from viz_core.catalogue import Checkpoint
from viz_core.errors import UsageError
from viz_core.figures import head_importance, reach_curve
from viz_core.figures.spec import FigureSpec
from viz_core.progress import Progress
from viz_core.texts import Passage
from viz_core.types import SINK
from viz_core.words import say

T = TypeVar("T")


def importance(state: AttributionState, checkpoint: Checkpoint, text: Passage) -> None:
    """The head-importance grids, and the chosen checkpoint's with intervals. Raises AtlasError."""
    st.subheader(
        say("What each head is worth"),
        anchor=False,
        help=terms.of("loss", "interval", "uniform attention"),
    )
    controls.replacement()
    rows, lost = losses.shipped(losses.HEADS, state.place)
    names = losses.names(rows)
    sides = {n: losses.importance(rows, n, state.replacement) for n in names}
    top = max(float(np.abs(side.added).max()) for side in sides.values())
    head_grid.show([_grid(side, top) for side in sides.values()])
    every = say("; ").join(
        f"{sides[n].name} {losses.together(rows, n, state.replacement):+.2f}" for n in names
    )
    st.caption(
        say(
            "Added loss in thousandths of a nat per token, a row per layer, a column per head; "
            "tints are on one scale, and bold where the 95 % interval over texts leaves 0 out. All "
            "heads of all layers replaced at once add, in nats: {every}.",
            every=every.replace("-", "−"),
        )
        + lost
    )
    if checkpoint.id in sides:
        figure = head_importance.build([sides[checkpoint.id]], *_words(state, rows.iloc[0]))
        leaving = exports.of_tables(losses.HEADS, "head-importance", figure, state)
        _heads(figure, leaving, "all")
    tables.numbers(rows[rows["replacement"] == state.replacement], "attrib_heads")

    def own(report: Progress) -> None:
        found = results.importance(checkpoint, text, report)
        place = _place(found.places, state.place)
        config = checkpoint.config
        name = say("{name}, this text", name=series.name(config.encoding, "", checkpoint.id))
        side = losses.of_heads(found, name, config.encoding, state.replacement, place)
        figure = head_importance.build([side], *_words(state, place))
        leaving = exports.of_text("head-importance", figure, checkpoint, text, state)
        _heads(figure, leaving, "own")

    _own("heads", checkpoint, text, own)


def reach(state: AttributionState, checkpoint: Checkpoint, text: Passage) -> None:
    """The reach curves. Raises AtlasError."""
    st.subheader(say("How far attention has to reach"), anchor=False)
    controls.kept(SINK)
    kept = SINK if state.kept else 0
    rows, lost = losses.shipped(losses.DISTANCE, state.place)
    figure = reach_curve.build([losses.curves(rows, kept)])
    draw.charts(figure, key="attrib_reach", height=440)
    leaving = exports.of_tables(losses.DISTANCE, "reach-curve", figure, state)
    export.row(leaving, "attrib_reach")
    st.caption(figure.caption + lost + tables.made(rows))
    tables.numbers(rows[rows["kept"] == kept], "attrib_reach_numbers")

    def own(report: Progress) -> None:
        found = results.by_reach(checkpoint, text, kept, report)
        config, place = checkpoint.config, _place(found.places, state.place)
        name = series.name(config.encoding, "", checkpoint.id)
        side = losses.of_reach(found, name, config.encoding, config.length, place)
        spec = reach_curve.build([side])
        draw.charts(spec, key="attrib_reach_own", height=360)
        leaving = exports.of_text("reach-curve", spec, checkpoint, text, state)
        export.row(leaving, "attrib_reach_own")
        st.caption(spec.caption)

    _own("reach", checkpoint, text, own)


def _own(
    what: str, checkpoint: Checkpoint, text: Passage, show: Callable[[Progress], None]
) -> None:
    """The same of the chosen checkpoint on the text above, once it is asked for."""
    name = series.name(checkpoint.config.encoding, "", checkpoint.id)
    pressed = st.button(
        say("Measure {name} on the text above", name=name),
        key=f"attrib_{what}_own",
        help=say("One text of {n:,} tokens: a single text has no interval.", n=len(text.ids) - 1),
    )
    wanted = (what, checkpoint.sha256, text.sha256)
    if wait.agreed(wanted, pressed):
        with wait.waiting(wanted, f"attrib_{what}") as one:
            show(one.watch(say("losses of {name}", name=name)))


def _place(places: tuple[Place, ...], name: str) -> Place:
    for place in places:
        if place.name == name:
            return place
    raise UsageError(
        say(
            "Expected a text that has {name} targets; the one above has {n:,} tokens, which are "
            "too few, so choose a larger length, or other targets.",
            name=say(name),
            n=places[-1].last,
        )
    )


def _words(state: AttributionState, at: object) -> tuple[str, str]:
    """The replacement, and the targets, in words; `at` says where they begin and end."""
    first, last = int(at.first), int(at.last)  # type: ignore[attr-defined]
    return (
        say(REPLACEMENTS[state.replacement]),
        say(
            "targets with {first:,} to {last:,} tokens before them ({place})",
            first=first,
            last=last,
            place=say(state.place),
        ),
    )


def _heads(spec: FigureSpec, leaving: Shown, key: str) -> None:
    draw.charts(spec, key=f"attrib_importance_{key}", height=250)
    export.row(leaving, f"attrib_importance_{key}")
    st.caption(spec.caption)


def _grid(side: head_importance.Side, top: float) -> Grid:
    cells = [
        [
            Cell(
                f"{1000 * v:z.0f}".replace("-", "−"),
                max(v, 0) / top,
                say("{v:+.4f} nats (95 %: {a:+.4f} to {b:+.4f})", v=v, a=a, b=b),
                a > 0 or b < 0,
            )
            for v, a, b in zip(*row, strict=True)
        ]
        for row in zip(side.added, side.low, side.high, strict=True)
    ]
    return Grid(side.name, side.accent, cells)
