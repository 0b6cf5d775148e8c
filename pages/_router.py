"""The frame around every page: configuration, and the pages found in this folder."""

import importlib
from pathlib import Path

import streamlit as st

FOLDER = Path(__file__).parent

st.set_page_config(
    page_title="Attention Atlas", page_icon=str(FOLDER / "_kit" / "icon.png"), layout="wide"
)

# Streamlit leaves room for a toolbar that the configuration hides.
st.html("<style>[data-testid=stMainBlockContainer] { padding-top: 2.5rem; }</style>")

names = sorted(p.stem for p in FOLDER.glob("*.py") if not p.name.startswith("_"))
cards = {name: importlib.import_module(f"pages.{name}").PAGE for name in names}
found = [
    st.Page(
        FOLDER / f"{name}.py",
        title=card.title,
        icon=card.icon,
        url_path=name,
        default=card.order == 0,
    )
    for name, card in sorted(cards.items(), key=lambda item: item[1].order)
]
st.navigation(found, position="top" if len(found) > 1 else "hidden").run()
