"""The frame around every page: configuration, and the pages found in this folder."""

import importlib
from pathlib import Path

import streamlit as st

from pages._kit import language, sign_in, store_trouble, tray_state
from viz_core.encodings import all_encodings
from viz_core.errors import AtlasError
from viz_core.words import say

FOLDER = Path(__file__).parent

st.set_page_config(
    page_title="Attention Atlas", page_icon=str(FOLDER / "_kit" / "icon.png"), layout="wide"
)

language.choose()
sign_in.gate()
try:  # a file of the owner's own may be wrong, and pages know encodings from their first line on
    all_encodings()
except AtlasError as error:
    st.error(str(error))
    st.stop()

# Streamlit leaves room for a toolbar that the configuration hides. The line by which a figure
# leaves the page is as quiet as its caption.
st.html(
    """<style>
    [data-testid=stMainBlockContainer] { padding-top: 2.5rem; position: relative; }
    .st-key-language_switch { position: absolute; right: 0; }
    [class*=st-key-leave_] { margin: -0.75rem 0; }
    [class*=st-key-leave_] button { min-height: 0; padding: 0.25rem 0; opacity: 0.75; }
    [class*=st-key-leave_] button:is(:hover, :focus-visible) { opacity: 1; }
    [class*=st-key-leave_] button p { font-size: 0.875rem; }
    </style>"""
)

names = sorted(p.stem for p in FOLDER.glob("*.py") if not p.name.startswith("_"))
pinned = len(tray_state.tray().pins)
cards = {name: importlib.import_module(f"pages.{name}").PAGE for name in names}
found = [
    st.Page(
        FOLDER / f"{name}.py",
        title=f"{say(card.title)} ({pinned})"
        if name == "figures" and pinned
        else say(card.title),
        icon=card.icon,
        url_path=name,
        default=card.order == 0,
    )
    for name, card in sorted(cards.items(), key=lambda item: item[1].order)
]
st.navigation(found, position="top" if len(found) > 1 else "hidden").run()
store_trouble.show()
sign_in.who()
