"""Checkpoints: the shipped ones with their cards, and one's own, uploaded, audited and removed."""

from __future__ import annotations

import streamlit as st

from pages._shared import offered, terms, training, uploads_known
from pages._shared.page import Page
from pages.checkpoints import audit, cards, drop
from viz_core.errors import AtlasError
from viz_core.words import mark, say

PAGE = Page(
    title=mark("Checkpoints"),
    icon=":material/database:",
    order=7,
    about=mark(
        "Shipped checkpoints with their cards, and your own: uploaded, audited, kept for hours."
    ),
)


def main() -> None:
    st.title(
        say(PAGE.title), anchor=False, help=terms.of("position encoding", "query", "key", "logit")
    )
    found, damaged = offered.shipped()
    for sentence in damaged:
        st.error(sentence)
    st.markdown(
        say(
            "Every page works on a checkpoint of your own as it does on the shipped ones. Drop one "
            "here: what it is, is found out from its files, and each finding says how."
        )
    )
    st.subheader(say("Your own"), anchor=False, help=terms.of("checkpoint"))
    try:
        drop.show()
        for known in uploads_known.known():
            audit.show(known, found)
    except AtlasError as error:  # the limits can't be read, or the disk can't
        st.error(str(error))
    st.subheader(
        say("Shipped"), anchor=False, help=terms.of("trained length", "token", "layer", "head")
    )
    if found:
        st.markdown(
            say(
                "Trained alike, on the same texts in the same order from the same seed: they "
                "differ in their position encoding alone."
            ),
            help=terms.of("distance", "slope", "staircase", "bucket", "ripple"),
        )
    try:
        cards.cards(found)
        training.show(found)
    except AtlasError as error:
        st.error(str(error))


if __name__ == "__main__":
    main()
