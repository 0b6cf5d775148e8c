"""How the shipped checkpoints were trained: losses by tokens seen, and what they say."""

from __future__ import annotations

from collections.abc import Container, Mapping

import streamlit as st

from pages._shared import draw, export, export_sources, tables, terms
from pages._shared.export import Shown
from viz_core import series
from viz_core.catalogue import Checkpoint
from viz_core.export.provenance import Source
from viz_core.figures import training_curves
from viz_core.figures.spec import FigureSpec
from viz_core.figures.training_curves import largest_rise, least
from viz_core.plates.tray import Pin
from viz_core.words import mark, say

LEVELS = (4.0, 3.8)  # nats: how soon a training falls below them


def show(shipped: dict[str, Checkpoint]) -> None:
    """Validation loss by tokens seen, and what it says of convergence and stability."""
    st.subheader(say("Training"), anchor=False, help=terms.of("loss", "nat"))
    known = {c.id: c.config.encoding for c in shipped.values()}
    rows = tables.trainings()
    lines = series.trainings(rows, known)
    if not lines:
        st.info(
            say(
                "Expected `training.csv` beside the checkpoints; there is none. Run `make "
                "checkpoints`."
            )
        )
        return
    figure = training_curves.build(lines, LEVELS)
    left, right = st.columns([1.2, 1], gap="medium", vertical_alignment="center")
    with left:
        draw.charts(figure, key="lab_training", height=400)
        export.row(_export(figure, shipped, set(rows.checkpoint)), "lab_training")
    reached = {
        f"Tokens to {level:g}": (
            say("Tokens to {loss:g}", loss=level),
            [_millions(least(s, level)) for s in lines],
            None,
        )
        for level in LEVELS
    }
    with right:
        tables.headed(
            {
                "Encoding": (say("Encoding"), [s.name for s in lines], None),
                "Last loss": (say("Last loss"), [float(s.loss[-1]) for s in lines], "%.3f"),
                **reached,
                "Largest rise": (say("Largest rise"), list(map(largest_rise, lines)), "%.3f"),
            }
        )
        st.caption(
            say(
                "Loss in nats per token. Tokens to: seen at the first validation below that loss. "
                "Largest rise: from one validation to the next; 0 means that the loss only fell."
            )
        )
    st.caption(figure.caption)


def _millions(tokens: float | None) -> str:
    if tokens is None:
        return say("not reached")
    return say("{millions:.2f} M", millions=tokens / 1e6)


def _export(figure: FigureSpec, shipped: Mapping[str, Checkpoint], seen: Container[str]) -> Shown:
    """Validation losses as those checkpoints were trained whose training was `seen`."""
    some = [c for c in shipped.values() if c.id in seen]
    some.sort(key=lambda c: (series.place(c.config.encoding), c.id))
    facts = {"trained_length": some[0].config.length, "loss": "nats per token, validation"}
    names = [c.id for c in some]
    pin = Pin.of("training-curves", checkpoints=names)
    title = mark("Validation loss while training")

    def made() -> tuple[Source, ...]:
        return export_sources.checkpoints(some) + export_sources.trainings(names)

    return Shown(lambda: figure, title, "training-curves", "extrapolation", pin, "", made, facts)
