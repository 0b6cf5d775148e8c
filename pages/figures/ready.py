"""Figures that are ready: what the gallery shows of each plate, and each with other options."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from pages._shared import terms, tray_state
from pages.figures import choices
from pages.figures import words as figure_words
from viz_core import plates
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.plates.tray import Pin
from viz_core.words import PLAIN, language, say

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
ACROSS = 3
# Pictures of one height on white, as on paper, whatever their shapes.
STYLE = """<style>
[class*=st-key-ready_card] img { height: 190px; object-fit: contain; background: #fff; }
[class*=st-key-ready_card] button { min-height: 0; padding: 0; white-space: nowrap; }
</style>"""


def known() -> dict[str, plates.Plate]:
    """Every plate that can be pinned, those that the gallery shows first."""
    every = {name: plate for name, plate in plates.all_plates().items() if name != "tray"}
    return dict(sorted(every.items(), key=lambda item: not _picture(item[0]).is_file()))


def show(shipped: Mapping[str, Checkpoint]) -> None:
    """The gallery, and below it the options of one figure."""
    st.subheader(
        say("Ready-made figures"),
        anchor=False,
        help=terms.of("staircase", "ripple", "layer", "head", "loss", "checkpoint"),
    )
    examples = [
        (plate, name, options)
        for plate in known().values()
        for name, options in plate.examples.items()
        if _picture(name).is_file()
    ]
    st.html(STYLE)
    for start in range(0, len(examples), ACROSS):
        columns = st.columns(ACROSS, gap="medium")
        for column, (plate, name, options) in zip(columns, examples[start:], strict=False):
            with column:
                _card(Pin.of(plate.id, **options), name)
    _other(shipped)


def _card(pin: Pin, name: str) -> None:
    title = figure_words.title(pin)
    with st.container(border=True, height="stretch", key=f"ready_card_{name}"):
        st.image(_picture(name).read_bytes(), width="stretch", alt=title)
        with st.container(horizontal=True, wrap=False, vertical_alignment="top"):
            with st.container(gap="xxsmall"):
                st.markdown(f"**{title}**")
                if words := figure_words.options(pin):
                    st.caption(words)
            with st.container(width="content"):
                there = tray_state.pinned(pin)
                st.button(
                    say("Pinned") if there else say("Pin"),
                    type="tertiary",
                    icon=":material/keep_off:" if there else ":material/keep:",
                    key=f"ready_pin_{name}",
                    disabled=not (there or tray_state.room()),
                    on_click=tray_state.toggle,
                    args=(pin,),
                )


def _other(shipped: Mapping[str, Checkpoint]) -> None:
    every = known()
    with st.expander(say("With other options")):
        plate = st.selectbox(
            say("Figure"),
            list(every),
            format_func=lambda name: say(every[name].title),
            key="ready_plate",
        )
        pin = choices.show(every[plate], shipped)
        if pin.options.get("checkpoints") == "":
            st.info(say("Choose a checkpoint to see its figure."))
            return
        try:
            pin.read(local=False)
        except AtlasError as error:
            st.error(str(error))
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                say("Pin"),
                icon=":material/keep:",
                type="primary",
                key="ready_pin",
                disabled=tray_state.pinned(pin) or not tray_state.room(),
                on_click=tray_state.toggle,
                args=(pin,),
            )
            words = [f"--{n.replace('_', '-')}={v}" for n, v in pin.options.items()]
            if language() != PLAIN:
                words.append(f"--language={language()}")
            command = shlex.join(["python", "-m", "viz_core", "figure", plate, *words])
            st.code(f"{command} --out F.pdf", "bash", wrap_lines=True)


def _picture(name: str) -> Path:
    return GALLERY / f"{name}.png"
