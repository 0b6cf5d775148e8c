"""The tray's figure as it will be printed: at true size on its page, in grey, or by other eyes."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._shared import export_control
from pages._shared.waiting import Waiting
from pages.figures import drawing, sheets, sights, target
from pages.figures import words as figure_words
from pages.figures.drawing import PinError
from viz_core.errors import AtlasError
from viz_core.export import Export
from viz_core.plates.tray import Tray
from viz_core.words import say


def show(tray: Tray, places: Mapping[str, DeltaGenerator]) -> Export | None:
    """The picture, and the figure itself; what is wrong with a pin stands at its place instead."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.subheader(say("At true size"), anchor=False, width="content")
        sight = st.segmented_control(
            say("Seen"),
            list(sights.NAMES),
            format_func=lambda sight: say(sights.NAMES[sight]),
            key="tray_sight",
            default=sights.PLAIN,
            required=True,
            label_visibility="collapsed",
        )
    waiting = Waiting(place := st.empty())
    try:
        png, figure = drawing.picture(tray, waiting.watch(say("the figure")))
    except PinError as error:
        place.empty()
        pin = next(pin for pin in tray.pins if pin.word() == error.word)
        st.info(
            say(
                "Without “{title}” there is no figure: see what stands below it.",
                title=figure_words.title(pin),
            )
        )
        places[error.word].error(str(error))
        return None
    except AtlasError as error:
        place.empty()
        st.error(str(error))
        return None
    place.empty()
    seen, spec = sights.seen(png, sight), figure.spec
    sheets.show(seen, spec.caption, spec.alt, target.paper(tray))
    words = sights.WORDS.get(sight)
    st.caption(say(words) if words else export_control.says(tray.target))
    return figure
