"""What emerges in training, from the table that is shipped: the first thing on the page."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._shared import draw, export, export_sources, tables, terms
from pages._shared.export import Shown
from pages.sweeps import words
from viz_core import texts
from viz_core.figures.spec import FigureSpec
from viz_core.plates import emergence
from viz_core.plates.tray import Pin
from viz_core.words import say

PAGE = "sweeps"
HEIGHT, ACROSS = 330, 3


def show() -> None:
    """The figure with what it says; a sentence where there is no table. Raises AtlasError."""
    rows = tables.shipped(emergence.KIND)
    found = emergence.trainings(rows, texts.HELD_OUT)
    if not found:
        st.info(
            say(
                "Expected steps of a training in `checkpoints/results/emergence.csv`; there are "
                "none. docs/sweeps.md says how to make them."
            )
        )
        return
    st.subheader(
        say("What emerges in training"),
        anchor=False,
        help=terms.of("token", "layer", "head", "loss", "nat"),
    )
    st.markdown(
        "\n".join(f"- {sentence}" for sentence in words.said(found)),
        help=terms.of("slope", "ripple", "key", "attention", "sink", "uniform attention"),
    )
    plot = emergence.plot(found, rows, ())
    figure(plot.spec, "sweeps_shipped")
    sources = partial(export_sources.tables, emergence.KIND)
    pin = Pin.of("emergence")
    title = say(emergence.PLATE.title)
    shown = Shown(lambda: plot.spec, title, "emergence", PAGE, pin, "", sources, plot.facts)
    export.row(shown, "sweeps_shipped")
    st.caption(
        plot.spec.caption + tables.made(rows),
        help=terms.of("interval", "reach", "distance", "null"),
    )
    tables.numbers(rows, "sweeps_emergence", say("Every number behind it"))


def figure(spec: FigureSpec, key: str) -> None:
    """Small panels in rows."""
    draw.charts(spec, key=key, height=HEIGHT, across=ACROSS)
