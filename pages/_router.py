"""The frame around every page: configuration, and the pages found in this folder."""

import importlib
from pathlib import Path

import streamlit as st

from pages._shared import language, looks, sign_in, store_trouble, terms, tour, tray_state
from pages._shared.page import script
from viz_core.encodings import all_encodings
from viz_core.errors import AtlasError
from viz_core.words import say

FOLDER = Path(__file__).parent

st.set_page_config(
    page_title="Attention Atlas", page_icon=str(FOLDER / "_shared" / "icon.png"), layout="wide"
)

# Streamlit leaves room for a toolbar that the configuration hides. The line by which a figure
# leaves the page is as quiet as its caption. What the frame offers stands beside the title; on a
# narrow page above it.
st.html(
    """<style>
    [data-testid=stMainBlockContainer] { padding-top: 2.5rem; }
    [data-testid=stMainBlockContainer] > [data-testid=stVerticalBlock] { position: relative; }
    .st-key-frame { z-index: 1; width: max-content; align-self: flex-end; margin-top: 1.5rem; }
    @media (min-width: 700px) { .st-key-frame { position: absolute; right: 0; top: 0.75rem; } }
    @media (max-width: 699px) { .st-key-frame { margin-bottom: -1.5rem; } }
    .st-key-frame button { min-height: 0; padding: 0.2rem 0.6rem; }
    .st-key-frame button p { font-size: 0.875rem; }
    .st-key-document { display: none; }
    .st-key-tour { border-left: 3px solid #3E86B8; padding-left: 1rem; row-gap: 0.25rem;
      margin: 1.75rem 0 -1.25rem; }
    .st-key-tour p { max-width: 46rem; }
    .st-key-tour_ways { margin-left: -0.5rem; }
    [class*=st-key-tour] button { min-height: 0; padding: 0.15rem 0.5rem; }
    .st-key-tour_invitation { border: 1px solid rgba(128, 128, 128, 0.3); border-radius: 0.5rem;
      padding: 0.5rem 0.5rem 0.5rem 1rem; }
    @media (min-width: 700px) { .st-key-tour { max-width: calc(100% - 15rem); } }
    [class*=st-key-leave_] { margin: -0.75rem 0; }
    [class*=st-key-leave_] button { min-height: 0; padding: 0.25rem 0; opacity: 0.75; }
    [class*=st-key-leave_] button:is(:hover, :focus-visible) { opacity: 1; }
    [class*=st-key-leave_] button p { font-size: 0.875rem; }
    </style>"""
)
looks.wear()
with st.container(
    horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall", key="frame"
):
    offered = st.empty()  # known once the language is
    language.choose()
with offered:
    terms.show()
sign_in.gate()
try:  # a file of the owner's own may be wrong, and pages know encodings from their first line on
    all_encodings()
except AtlasError as error:
    st.error(str(error))
    st.stop()

tour.follow()
names = sorted(p.parent.name for p in FOLDER.glob("[!_]*/page.py"))
pinned = len(tray_state.tray().pins)
cards = {name: importlib.import_module(f"pages.{name}.page").PAGE for name in names}
found = [
    st.Page(
        FOLDER / script(name),
        title=f"{say(card.title)} ({pinned})" if name == "figures" and pinned else say(card.title),
        icon=card.icon,
        url_path=name,
        default=card.order == 0,
    )
    for name, card in sorted(cards.items(), key=lambda item: item[1].order)
]
page = st.navigation(found, position="top" if len(found) > 1 else "hidden")
tour.show()
page.run()
store_trouble.show()
sign_in.who()
