"""What the tray is drawn for, by widgets: the paper, and how many panels stand in a row."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._shared import export_control, tray_state
from pages.figures.sheets import Paper
from viz_core.plates.tray import Tray
from viz_core.render.venues import VENUES
from viz_core.words import say

KEY = "tray"
ACROSS = 4  # panels in a row, at most; 0 in the widget: as many as are legible


def seed(tray: Tray) -> None:
    """Puts what `tray` is drawn for into the widgets, before they are drawn."""
    choice = export_control.of(tray.target, export_control.remembered())
    for name in ("venue", "columns", "width", "unit"):
        st.session_state[f"{KEY}_{name}"] = getattr(choice, name)
    st.session_state.tray_across = min(tray.target.across or 0, ACROSS)


def show() -> None:
    """The widgets; what they say becomes the tray's own."""
    before = export_control.of(tray_state.tray().target, export_control.remembered())
    export_control.seed(KEY, before)
    a, b = st.columns(2, gap="medium")
    with a:
        export_control.venue_of(KEY)
    across = b.selectbox(
        say("Panels in a row"),
        range(ACROSS + 1),
        format_func=lambda n: str(n) if n else say("As fit"),
        key="tray_across",
    )
    export_control.size_of(KEY)
    choice = export_control.chosen(KEY, before)
    tray_state.put(replace(tray_state.tray(), target=choice.target(across or None)))


def paper(tray: Tray) -> Paper:
    """The page that the tray's figure stands on."""
    sheet, venue = tray.target.sheet(), VENUES[tray.target.venue]
    if tray.target.width is not None or venue.column is None:
        return Paper(sheet.width, sheet.width, size=sheet.title)
    gap = venue.full - 2 * venue.column
    return Paper(sheet.width, venue.column, 2, gap, sheet.title)
