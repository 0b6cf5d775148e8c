"""A measurement of the visitor's own: one checkpoint, changed without retraining, on one text."""

from __future__ import annotations

import streamlit as st
from tokenizers import Tokenizer

from pages._shared import draw, export, reading, setting_choices, tables
from pages._shared.waiting import Waiting
from pages.extrapolation import controls, exports, losses
from viz_core import series, texts
from viz_core.catalogue import Checkpoint
from viz_core.figures import extrapolation
from viz_core.perplexity import PROTOCOLS
from viz_core.perplexity.protocols import FIXED
from viz_core.types import Sample
from viz_core.words import say

DOCUMENTS = 4
SHORTEST = 256  # tokens


def show(shipped: dict[str, Checkpoint]) -> None:
    """Controls, and the curve beside that as trained, once Compute was pressed. Raises AtlasError.

    What was computed before is shown at once; a control that changes while it is computed cancels.
    """
    st.subheader(say("Change it yourself"), anchor=False)
    if not shipped:
        st.info(say("Expected trained checkpoints; there are none. Run `make checkpoints`."))
        return
    choices = texts.available()
    pressed = controls.live(shipped, choices)
    state = controls.state()
    chosen = shipped[state.live]
    config = chosen.config
    if not setting_choices.ours(chosen):
        st.caption(say(setting_choices.FOREIGN))
    wanted = (state.live, state.setting, state.on, state.upto)
    done = st.session_state.setdefault("lab_done", set())  # what this visitor has computed
    if not pressed and wanted not in done:
        st.caption(
            say(
                "Compute measures the loss with fixed targets on {documents} documents or "
                "passages, at {shortest:,} to {longest:,} tokens: seconds to a minute.",
                documents=DOCUMENTS,
                shortest=SHORTEST,
                longest=state.upto,
            )
        )
        return

    def cut(pieces: Tokenizer) -> list[Sample]:
        return texts.samples(state.on, state.upto, pieces, DOCUMENTS)

    samples = reading.one(chosen, state.on, cut)
    lengths = [n for n in (SHORTEST << i for i in range(9)) if n <= state.upto]
    place = st.empty()
    rows, waiting = [], Waiting(place)
    for setting in dict.fromkeys(("", state.setting)):
        report = waiting.watch(series.name(config.encoding, setting, chosen.id))
        rows += losses.losses(chosen, setting, samples, lengths, report)
    place.empty()
    done.add(wanted)
    frame = series.table(rows, chosen.id, config.encoding, config.length)
    if frame.loss.isna().all():
        nothing = say("Nothing to draw at {shortest:,} tokens and more.", shortest=SHORTEST)
        st.info(nothing + series.undefined(frame))
        return
    title = next(c.title for c in choices if c.id == state.on)
    figure = extrapolation.build(
        series.curves(frame),
        say(controls.PROTOCOL_NAMES[FIXED]),
        say(PROTOCOLS[FIXED]),
        title,
        state.measure,
        title=series.name(config.encoding, state.setting, chosen.id),
    )
    draw.charts(figure, key="lab_live_chart")
    export.row(exports.live(figure, chosen, state.setting, samples), "lab_live")
    st.caption(figure.caption)
    tables.numbers(frame, key="lab_own")
