"""What Compare shows of a state: texts read, maps and curves computed, and all of it drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st
from tokenizers import Tokenizer

from pages._kit import (
    cached,
    controls,
    draw,
    export,
    heads,
    lab,
    landmarks,
    language,
    reading,
    terms,
    zoom,
    zoom_controls,
)
from pages._kit.export_compare import Leaving
from pages._kit.session import CompareState, SideState
from pages._kit.waiting import Waiting
from viz_core import encodings, texts, trace, words
from viz_core.catalogue import Checkpoint
from viz_core.figures import attention_maps, decay_curves
from viz_core.progress import Progress, ignore
from viz_core.signatures.landmarks import Landmarks
from viz_core.survey import Survey
from viz_core.texts import Passage
from viz_core.types import SINK, Kind, Pooling, Window
from viz_core.words import say

KINDS: dict[str, Kind] = {"mean": "log", "centred": "centred", "one": "probability"}


def prepare(state: CompareState, chosen: Checkpoint, passages: list[Passage]) -> None:
    """Computes maps and wall of one checkpoint, for whoever asks for them later."""
    _images(state, chosen, passages, _survey(state, chosen, passages, ignore))


def read(state: CompareState, chosen: Sequence[Checkpoint]) -> list[list[Passage]]:
    """The passages that `state` asks for, one or several, in the tokens of each of `chosen`.

    Raises TextError, UnknownName.
    """

    def cut(pieces: Tokenizer) -> list[Passage]:
        if state.view == "one" or state.text == texts.PASTED:
            own, again = state.paste, state.repeat
            return [texts.tokens(state.text, state.length, pieces, pasted=own, repeat=again)]
        return texts.passages(state.text, state.length, state.texts, pieces)

    return reading.each(chosen, state.text, cut, state.paste)


def show(state: CompareState, shipped: dict[str, Checkpoint], default: CompareState) -> None:
    """Maps, walls and curves of `state`; who cancels goes back to what was shown before, or to
    `default`. Raises AtlasError with what stands in the way."""
    chosen = [shipped[side.checkpoint] for side in state.sides]
    for one in {c.id: c for c in chosen}.values():  # before any text is read for it
        trace.check_length(cached.model(one), state.length)
    passages = read(state, chosen)
    lengths = [len(some[0].ids) for some in passages]
    notes = [p.note for some in passages for p in some if p.note]
    causal = all(c.config.causal for c in chosen)
    if cut := zoom.fit(lengths, causal):
        state = zoom.placed(state)
        controls.publish(state)
    for note in dict.fromkeys(notes + cut):
        st.info(note)
    surveys, windows = _computed(state, chosen, passages, default)
    titles = [
        say("{name} · layer {layer}, head {head}", **_place(s, c))
        for c, s in zip(chosen, state.sides, strict=True)
    ]
    marks = list[Landmarks | None]([None] * len(titles))
    if state.marks:
        marks = [
            landmarks.of(s, v, c, p)
            for s, v, c, p in zip(state.sides, surveys, chosen, passages, strict=True)
        ]
    shown = zip(state.sides, surveys, chosen, strict=True)
    st.markdown(
        "\n".join(f"- {_sentence(*one)}" for one in shown), help=terms.of("head", "layer", "slope")
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
    st.subheader(
        say("Attention by distance"),
        anchor=False,
        help=terms.of("distance", "log-attention", "law"),
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
    st.session_state.shown = state, zoom.trails()


def _place(side: SideState, one: Checkpoint) -> dict[str, str | int]:
    """The fields of messages about one head."""
    return {"name": _name(one), "layer": side.layer + 1, "head": side.head + 1}


def _name(one: Checkpoint) -> str:
    """What it is called: by its encoding, an upload with its id."""
    return lab.name(one.config.encoding, "", one.id)


def _pooling(state: CompareState) -> Pooling:
    """How cells are pooled: by choice in a single text, else by the mean."""
    return "max" if state.view == "one" and state.pooling == "max" else "mean"


def _survey(
    state: CompareState, chosen: Checkpoint, passages: list[Passage], report: Progress
) -> Survey:
    return cached.surveyed(chosen, passages, KINDS[state.view], report, _pooling(state))


def _images(
    state: CompareState, chosen: Checkpoint, passages: list[Passage], found: Survey
) -> list[bytes]:
    """The thumbnails of all heads of `chosen`."""
    key = (chosen.sha256, state.view, _pooling(state), *(p.sha256 for p in passages))
    c = chosen.config
    return cached.thumbnails(key, found, c.encoding, c.length, state.linear)


def _computed(
    state: CompareState,
    chosen: Sequence[Checkpoint],
    passages: Sequence[list[Passage]],
    default: CompareState,
) -> tuple[list[Survey], list[tuple[Window, int]]]:
    """Each side's survey, and its window with the head's place in it. The progress shows."""
    place = st.empty()
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

    waiting = Waiting(place, cancel if state != (shown or default) else None)
    surveys, windows = [], []
    for i, (side, one, some) in enumerate(zip(state.sides, chosen, passages, strict=True), 1):
        name = _name(one)
        if len(chosen) > 1:
            name = say("{name} ({i} of {count})", name=name, i=i, count=len(chosen))
        found = _survey(state, one, some, waiting.watch(name))
        surveys.append(found)
        if side.box:
            window = cached.zoomed(
                one,
                some,
                KINDS[state.view],
                (side.layer, side.head),
                *side.box,
                _pooling(state),
                waiting.watch(name),
            )
            windows.append((window, 0))
        else:
            windows.append((found.windows[side.layer], side.head))
    place.empty()
    return surveys, windows


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
            texts.pieces(some[0].ids, cached.tokenizer(one))
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
        sink = float(surveys[i].statistics["sink"][place.layer, place.head])
        lines = [f"**{sides[i].title}**", attention_maps.looking(sides[i])]
        if math.isfinite(sink):
            lines.append(
                say(
                    "The first {sink} keys, where a sink would be, hold {share} of a query's "
                    "attention.",
                    sink=SINK,
                    share=heads.per_cent(sink),
                )
            )
        column.caption("\n\n".join(lines), help=terms.of("staircase", "reach", "ripple", "sink"))


def _walls(
    state: CompareState,
    chosen: Sequence[Checkpoint],
    passages: Sequence[list[Passage]],
    surveys: Sequence[Survey],
) -> None:
    heads.control()
    for i, column in enumerate(st.columns(len(chosen), gap="medium")):
        side, one, found, some = state.sides[i], chosen[i], surveys[i], passages[i]
        across = one.config.heads
        images = _images(state, one, some, found)
        values = None if state.sort == "place" else found.statistics[state.sort]
        with column:
            draw.wall(
                heads.pictures(images, across, state.sort, values),
                across if values is None else None,
                (side.layer, side.head),
                _name(one),
                one.config.encoding,
                key=f"wall{i}",
                on_pick=_picker(i, side.checkpoint),
            )
            export.row(Leaving(state, chosen, passages).wall(one, found), f"wall{i}")


def _sentence(side: SideState, found: Survey, one: Checkpoint) -> str:
    """What is seen in one map."""
    card = encodings.get(one.config.encoding)
    slope = float(found.slopes[side.layer][side.head])
    laws = found.laws[side.layer]
    steps = np.diff(laws[side.head]) if laws is not None else np.zeros(1)
    if steps[0] < 0 and np.allclose(steps, steps[0], rtol=1e-3):  # a straight line down
        return say(
            "**{name}**, layer {layer}, head {head}: log-attention falls by {slope:.4f} nats per "
            "token ({nominal:.4f} by its slope), so it halves every {half:.1f} tokens.",
            slope=-slope,
            nominal=-steps[0],
            half=math.log(2) / -steps[0],
            **_place(side, one),
        )
    curve = found.curves[side.layer].value[side.head]
    summary = say(card.summary).rstrip(".。")
    if words.language() == words.PLAIN:  # others don't tell sentences from clauses by a letter
        summary = f"{summary[0].lower()}{summary[1:]}"
    return say(
        "**{name}**, layer {layer}, head {head}: {summary}; here log-attention moves over "
        "{swing:.1f} nats, with a slope of {slope:+.4f} per token.",
        summary=summary,
        swing=float(curve[1:].max() - curve[1:].min()),
        slope=slope,
        **_place(side, one),
    )


def _picker(i: int, checkpoint: str) -> Callable[[int, int], None]:
    def pick(layer: int, head: int) -> None:
        controls.put_side(i, SideState(checkpoint, int(layer), int(head)))

    return pick
