"""The tray's figure as a file, in every format."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._shared import export_control
from viz_core.export import Export
from viz_core.words import say, speaking

KEY = "tray_leave"


def show(figure: Export) -> None:
    """The format, and the download, which is made when it is asked for."""
    before = export_control.remembered()
    export_control.seed(KEY, before)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        with st.container():
            kind = export_control.format_of(KEY)
        button = st.container(width="content")
    choice = export_control.chosen(KEY, before)
    st.session_state.export_choice = replace(before, kind=choice.kind, dpi=choice.dpi)
    ready = replace(figure, dpi=choice.dpi)

    def made() -> bytes:  # once the page is done, and its language forgotten
        with speaking(ready.target.language):
            return export_control.made(ready, kind)

    button.download_button(
        say("Download {kind}", kind=kind.upper()),
        made,
        file_name=f"{figure.name}.{export_control.ending(figure.spec, kind)}",
        mime=export_control.mime(figure.spec, kind),
        type="primary",
        on_click="ignore",
        key=f"{KEY}_file",
    )
