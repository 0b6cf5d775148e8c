"""The tray to keep or to hand on: its address, and a small JSON that opens it again."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from pages._shared import language, tray_state
from pages.figures import target
from viz_core.errors import AtlasError
from viz_core.plates.tray import Tray
from viz_core.words import say

PAGE = "figures"


def show(tray: Tray) -> None:
    """Address and file of `tray`, and where another one can be dropped."""
    with st.expander(say("Keep or share this tray")):
        st.code(address(tray), language=None, wrap_lines=True)
        st.download_button(
            say("Download as JSON"),
            tray.to_json(),
            file_name="attention-atlas-figure.json",
            mime="application/json",
            on_click="ignore",
            key="tray_json",
        )
        bring()


def address(tray: Tray) -> str:
    """The link that opens the tray."""
    base = (st.context.url or "").rstrip("/").removesuffix(f"/{PAGE}")
    return f"{base}/{PAGE}?{urlencode(tray.to_query())}"


def bring() -> None:
    """Where the JSON of a tray can be dropped; it takes the place of the present one."""
    turn = st.session_state.setdefault("tray_turn", 0)
    key = f"tray_file{turn}"  # a dropped file is taken once: then the widget is a new one
    st.file_uploader(
        say("Open a tray from its JSON"),
        type="json",
        max_upload_size=1,
        key=key,
        on_change=_taken,
    )
    if wrong := st.session_state.get("tray_dropped"):
        st.error(wrong)


def _taken() -> None:
    language.recall()
    s = st.session_state
    file = s[f"tray_file{s.tray_turn}"]
    if file is None:
        return
    s.tray_dropped, s.tray_wrong = "", ""
    s.tray_turn += 1
    try:
        tray = Tray.from_json(file.getvalue().decode("utf-8", "replace"))
    except AtlasError as error:
        s.tray_dropped = f"{file.name[:40]}: {error}"
        return
    tray_state.put(tray)
    target.seed(tray)
