"""What if: the same weights under another setting, as a difference map and curves."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._shared import draw, export, loaded, measuring, setting_choices, terms
from pages._shared.boxes import Box
from pages._shared.waiting import Waiting
from pages.decay import controls, exports, how, portraits
from pages.decay.state import DecayState
from viz_core import series, texts
from viz_core.catalogue import Checkpoint
from viz_core.figures import difference
from viz_core.survey import Survey
from viz_core.types import Range, Window
from viz_core.words import say


def show(shipped: dict[str, Checkpoint]) -> None:
    """Controls, and the difference once Compute was pressed. Raises AtlasError.

    What was computed before is shown at once; a control that changes while it is computed cancels.
    """
    s = st.session_state
    st.subheader(say("What if"), anchor=False, help=terms.of("cell"))
    st.markdown(
        say(
            "The same weights under another setting of their encoding, without retraining: which "
            "pairs of tokens gain attention, which lose it, and what becomes of the curve."
        )
    )
    pressed = controls.change(shipped)
    state = controls.state()
    chosen = shipped[state.changed]
    if not setting_choices.ours(chosen):
        st.caption(say(setting_choices.FOREIGN))
        return
    wanted = (chosen.sha256, state.what, state.text, state.length, state.texts)
    done = s.setdefault("decay_compared", set())  # what this visitor has computed
    if not pressed and wanted not in done:
        st.caption(
            say(
                "Compute measures attention under both settings over {texts} passages of "
                "{length:,} tokens: seconds to a minute.",
                texts=state.texts,
                length=state.length,
            )
        )
        return
    portraits.notes(some := portraits.passages(state, chosen), [chosen])
    before, after = _surveys(chosen, state, some)
    done.add(wanted)
    layer = min(state.layer, chosen.config.layers - 1)
    head = min(state.head, chosen.config.heads - 1)
    zoomed = s.get("decay_zoom") if s.get("decay_zoomed") == wanted else None
    sides = []
    for found, setting in ((before, ""), (after, state.what)):
        name = series.name(chosen.config.encoding, setting, chosen.id)
        window = cut(found.windows[layer], zoomed)
        accent = chosen.config.encoding
        sides.append(difference.Side(name, accent, window, found.curves[layer], head))
    what = say("layer {layer}, head {head}", layer=layer + 1, head=head + 1)
    spec = difference.build(*sides, chosen.config.length, state.length, what)

    def zoom(panel: int, box: Box) -> None:
        s.decay_zoom, s.decay_zoomed = box, wanted

    left, right = st.columns([1.2, 1], gap="medium")
    with left:
        draw.maps(
            spec,
            [texts.pieces(some[0].ids, loaded.tokenizer(chosen)) if len(some) == 1 else []],
            key="decay_difference",
            linked=False,
            zoomed=[zoomed is not None],
            on_zoom=zoom,
            on_back=lambda panel: s.pop("decay_zoom", None),
        )
    with right:
        draw.charts(spec, key="decay_difference_curves", height=300, across=1)
    leaving = exports.difference(spec, chosen, state, some, (layer, head), zoomed)
    export.row(leaving, "decay_difference")
    st.caption(spec.caption)
    how.show("difference")


def _surveys(
    chosen: Checkpoint, state: DecayState, some: list[texts.Passage]
) -> tuple[Survey, Survey]:
    """Surveys as trained and under the setting. The progress shows; a changed control ends it."""
    waiting = Waiting(place := st.empty())
    found = []
    for setting in ("", state.what):
        report = waiting.watch(series.name(chosen.config.encoding, setting, chosen.id))
        found.append(measuring.surveyed(chosen, some, "log", report, setting=setting))
    place.empty()
    return found[0], found[1]


def cut(window: Window, box: Box | None) -> Window:
    """The part of a window that `box` (queries, keys) touches, in whole cells; None: all of it."""
    if box is None:
        return window
    cuts, spans = [], []
    for (first, last), (a, b) in zip((window.rows, window.columns), box, strict=True):
        start, stop = (a - first) // window.cell, -(-(b - first) // window.cell)
        cuts.append(slice(start, stop))
        spans.append((first + start * window.cell, min(first + stop * window.cell, last)))
    rows, columns = cuts
    parts: tuple[Range, Range] = (spans[0], spans[1])
    return replace(
        window,
        value=window.value[:, rows, columns],
        count=window.count[rows, columns],
        rows=parts[0],
        columns=parts[1],
    )
