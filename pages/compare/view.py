"""What Compare shows of a state: maps, walls and curves, and a way back while they are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._shared import draw, export, language, loaded, terms
from pages._shared.waiting import Waiting
from pages.compare import controls, landmarks, results, wall, words, zoom, zoom_controls
from pages.compare.exports import Leaving
from pages.compare.state import CompareState, SideState
from viz_core import texts, trace
from viz_core.catalogue import Checkpoint
from viz_core.figures import attention_maps, decay_curves
from viz_core.signatures.landmarks import Landmarks
from viz_core.survey import Survey
from viz_core.texts import Passage
from viz_core.words import say


def show(state: CompareState, shipped: dict[str, Checkpoint], default: CompareState) -> None:
    """Maps, walls and curves of `state`; who cancels goes back to what was shown before, or to
    `default`. Raises AtlasError with what stands in the way."""
    chosen = [shipped[side.checkpoint] for side in state.sides]
    for one in {c.id: c for c in chosen}.values():  # before any text is read for it
        trace.check_length(loaded.model(one), state.length)
    passages = results.read(state, chosen)
    lengths = [len(some[0].ids) for some in passages]
    notes = [p.note for some in passages for p in some if p.note]
    notes += [c.caveat for c in chosen if c.caveat]
    causal = all(c.config.causal for c in chosen)
    if cut := zoom.fit(lengths, causal):
        state = zoom.placed(state)
        controls.publish(state)
    for note in dict.fromkeys(notes + cut):
        st.info(note)
    place = st.empty()
    waiting = _waiting(place, state, default)
    surveys, windows = results.sides(state, chosen, passages, waiting)
    place.empty()
    titles = [words.title(s, c) for s, c in zip(state.sides, chosen, strict=True)]
    marks = list[Landmarks | None]([None] * len(titles))
    if state.marks:
        marks = [
            landmarks.of(s, v, c, p)
            for s, v, c, p in zip(state.sides, surveys, chosen, passages, strict=True)
        ]
    shown = zip(state.sides, surveys, chosen, strict=True)
    st.markdown(
        "\n".join(f"- {words.sentence(*one)}" for one in shown),
        help=terms.of("head", "layer", "slope"),
    )
    zoom_controls.bar(state, titles, lengths, causal)
    sides = [
        attention_maps.Side(*w, title, c.config.encoding, c.config.length, length, m)
        for w, title, c, length, m in zip(windows, titles, chosen, lengths, marks, strict=True)
    ]
    _maps(state, chosen, sides, passages)
    if state.marks:
        _looking(state, sides, surveys)
    _walls(state, chosen, passages, surveys)
    _curves(state, chosen, passages, surveys, titles, marks)
    st.session_state.shown = state, zoom.trails()


def _waiting(place: DeltaGenerator, state: CompareState, default: CompareState) -> Waiting:
    """What shows in `place` how far the computing of `state` is, with a way to cancel it."""
    if sentence := st.session_state.pop("cancelled", None):
        st.toast(sentence)
    shown, trails = st.session_state.get("shown", (None, None))

    def cancel() -> None:
        controls.seed(shown or default)
        if trails is not None:
            zoom.restore(trails)
        language.recall()
        st.session_state.cancelled = (
            say("Cancelled: this is what was shown before.")
            if shown
            else say("Cancelled: this is the page's first view.")
        )

    return Waiting(place, cancel if state != (shown or default) else None)


def _maps(
    state: CompareState,
    chosen: Sequence[Checkpoint],
    sides: Sequence[attention_maps.Side],
    passages: Sequence[list[Passage]],
) -> None:
    figure = attention_maps.build(sides, state.linear)
    labels = list[list[str]]([[]] * len(sides))
    if state.view == "one":
        labels = [
            texts.pieces(some[0].ids, loaded.tokenizer(one))
            for one, some in zip(chosen, passages, strict=True)
        ]
    draw.maps(
        figure,
        labels,
        key="maps",
        linked=state.linked,
        zoomed=[side.box is not None for side in state.sides],
        on_zoom=lambda i, box: zoom.into(i, box, sides[i].length),
        on_back=lambda i: zoom.back(i, len(zoom.trails()[i]) - 1),
        height=560 if len(sides) > 1 else 680,  # a single one has room
    )
    export.row(Leaving(state, chosen, passages).maps(figure), "maps")
    st.caption(figure.caption)


def _looking(
    state: CompareState, sides: Sequence[attention_maps.Side], surveys: Sequence[Survey]
) -> None:
    """Below each map, where to look on it."""
    for i, column in enumerate(st.columns(len(sides), gap="medium")):
        place = state.sides[i]
        lines = [f"**{sides[i].title}**", attention_maps.looking(sides[i])]
        if sink := words.sink(place, surveys[i]):
            lines.append(sink)
        column.caption("\n\n".join(lines), help=terms.of("staircase", "reach", "ripple", "sink"))


def _walls(
    state: CompareState,
    chosen: Sequence[Checkpoint],
    passages: Sequence[list[Passage]],
    surveys: Sequence[Survey],
) -> None:
    wall.control()
    for i, column in enumerate(st.columns(len(chosen), gap="medium")):
        side, one, found, some = state.sides[i], chosen[i], surveys[i], passages[i]
        across = one.config.heads
        images = results.wall(state, one, some, found)
        values = None if state.sort == "place" else found.statistics[state.sort]
        with column:
            draw.wall(
                wall.pictures(images, across, state.sort, values),
                across if values is None else None,
                (side.layer, side.head),
                words.name(one),
                one.config.encoding,
                key=f"wall{i}",
                on_pick=_picker(i, side.checkpoint),
            )
            export.row(Leaving(state, chosen, passages).wall(one, found), f"wall{i}")


def _picker(i: int, checkpoint: str) -> Callable[[int, int], None]:
    def pick(layer: int, head: int) -> None:
        controls.put_side(i, SideState(checkpoint, int(layer), int(head)))

    return pick


def _curves(
    state: CompareState,
    chosen: Sequence[Checkpoint],
    passages: Sequence[list[Passage]],
    surveys: Sequence[Survey],
    titles: Sequence[str],
    marks: Sequence[Landmarks | None],
) -> None:
    st.subheader(
        say("Attention by distance"),
        anchor=False,
        help=terms.of("distance", "log-attention", "nat", "law"),
    )
    curves = decay_curves.build(
        [
            decay_curves.Side(
                v.curves[s.layer],
                v.laws[s.layer],
                s.head,
                title,
                c.config.encoding,
                c.config.length,
                marks=m,
            )
            for s, v, c, title, m in zip(state.sides, surveys, chosen, titles, marks, strict=True)
        ],
        state.x_log,
    )
    draw.charts(curves, key="curves")
    export.row(Leaving(state, chosen, passages).curves(curves), "curves")
    st.caption(curves.caption)
