"""What Compare shows of a state: texts read, maps and curves computed, and all of it drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from pages._kit import cached, controls, draw, heads, zoom, zoom_controls
from pages._kit.session import CompareState, SideState
from pages._kit.waiting import Waiting
from viz_core import devices, encodings, texts, trace
from viz_core.catalogue import Checkpoint
from viz_core.figures import attention_maps, decay_curves
from viz_core.progress import Progress, ignore
from viz_core.survey import Survey
from viz_core.texts import Passage
from viz_core.types import Kind, Pooling, Window

KINDS: dict[str, Kind] = {"mean": "log", "centred": "centred", "one": "probability"}


def prepare(state: CompareState, chosen: Checkpoint, passages: list[Passage]) -> None:
    """Computes maps and wall of one checkpoint, for whoever asks for them later."""
    _images(state, chosen, passages, _survey(state, chosen, passages, ignore))


def read(state: CompareState) -> list[Passage]:
    """The passages that `state` asks for, one or several. Raises TextError, UnknownName."""
    if state.view == "one" or state.text == "pasted":
        return [
            texts.tokens(
                state.text,
                state.length,
                cached.tokenizer(),
                pasted=state.paste,
                repeat=state.repeat,
            )
        ]
    return texts.passages(state.text, state.length, state.texts, cached.tokenizer())


def show(state: CompareState, shipped: dict[str, Checkpoint], default: CompareState) -> None:
    """Maps, walls and curves of `state`; who cancels goes back to what was shown before, or to
    `default`. Raises AtlasError with what stands in the way."""
    chosen = [shipped[side.checkpoint] for side in state.sides]
    for one in {c.id: c for c in chosen}.values():  # before any text is read for it
        trace.check_length(cached.model(one), state.length, devices.best())
    passages = read(state)
    length = len(passages[0].ids)
    notes = [p.note for p in passages if p.note]
    if cut := zoom.fit(length, len(state.sides)):
        state = zoom.placed(state)
        controls.publish(state)
    for note in dict.fromkeys(notes + cut):
        st.info(note)
    surveys, windows = _computed(state, chosen, passages, default)
    cards = [encodings.get(c.config.encoding) for c in chosen]
    titles = [
        f"{card.name} · layer {s.layer + 1}, head {s.head + 1}"
        for card, s in zip(cards, state.sides, strict=True)
    ]
    st.markdown(
        "\n".join(
            _sentence(s, v, card) for s, v, card in zip(state.sides, surveys, cards, strict=True)
        )
    )
    zoom_controls.bar(state, titles, length)
    _maps(state, chosen, windows, titles, passages[0])
    _walls(state, chosen, passages, surveys)
    st.subheader("Attention by distance", anchor=False)
    curves = decay_curves.build(
        [
            decay_curves.Side(
                v.curves[s.layer],
                v.laws[s.layer],
                s.head,
                title,
                c.config.encoding,
                c.config.length,
            )
            for s, v, c, title in zip(state.sides, surveys, chosen, titles, strict=True)
        ],
        state.x_log,
    )
    draw.charts(curves, key="curves")
    st.caption(curves.caption)
    st.session_state.shown = state, zoom.trails()


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
    state: CompareState, chosen: list[Checkpoint], passages: list[Passage], default: CompareState
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
        what = "what was shown before" if shown else "the page's first view"
        st.session_state.cancelled = f"Cancelled: this is {what}."

    waiting = Waiting(place, cancel if state != (shown or default) else None)
    surveys, windows = [], []
    for i, (side, one) in enumerate(zip(state.sides, chosen, strict=True), 1):
        name = encodings.get(one.config.encoding).name
        name = f"{name} ({i} of {len(chosen)})" if len(chosen) > 1 else name
        found = _survey(state, one, passages, waiting.watch(name))
        surveys.append(found)
        if side.box:
            window = cached.zoomed(
                one,
                passages,
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
    windows: Sequence[tuple[Window, int]],
    titles: Sequence[str],
    text: Passage,
) -> None:
    length = len(text.ids)
    figure = attention_maps.build(
        [
            attention_maps.Side(*window, title, c.config.encoding, c.config.length, length)
            for window, title, c in zip(windows, titles, chosen, strict=True)
        ],
        state.linear,
    )
    names = texts.pieces(text.ids, cached.tokenizer()) if state.view == "one" else []
    draw.maps(
        figure,
        [names] * len(titles),
        key="maps",
        linked=state.linked,
        zoomed=[side.box is not None for side in state.sides],
        on_zoom=lambda i, box: zoom.into(i, box, length),
        on_back=lambda i: zoom.back(i, len(zoom.trails()[i]) - 1),
        height=560 if len(titles) > 1 else 680,  # a single one has room
    )
    st.caption(figure.caption)


def _walls(
    state: CompareState,
    chosen: Sequence[Checkpoint],
    passages: list[Passage],
    surveys: Sequence[Survey],
) -> None:
    heads.control()
    for i, column in enumerate(st.columns(len(chosen), gap="medium")):
        side, one, found = state.sides[i], chosen[i], surveys[i]
        across = one.config.heads
        images = _images(state, one, passages, found)
        values = None if state.sort == "place" else found.statistics[state.sort]
        with column:
            draw.wall(
                heads.pictures(images, across, state.sort, values),
                across if values is None else None,
                (side.layer, side.head),
                encodings.get(one.config.encoding).name,
                one.config.encoding,
                key=f"wall{i}",
                on_pick=_picker(i, side.checkpoint),
            )


def _sentence(side: SideState, found: Survey, card: encodings.Encoding) -> str:
    """What is seen in one map, in words, with what was measured."""
    slope = float(found.slopes[side.layer][side.head])
    words = f"- **{card.name}**, layer {side.layer + 1}, head {side.head + 1}: "
    laws = found.laws[side.layer]
    steps = np.diff(laws[side.head]) if laws is not None else np.zeros(1)
    if steps[0] < 0 and np.allclose(steps, steps[0], rtol=1e-3):  # a straight line down
        return words + (
            f"log-attention falls by {-slope:.4f} nats per token ({-steps[0]:.4f} by its slope), "
            f"so it halves every {math.log(2) / -steps[0]:.1f} tokens."
        )
    curve = found.curves[side.layer].value[side.head]
    swing = float(curve[1:].max() - curve[1:].min())
    return words + (
        f"{card.summary[0].lower()}{card.summary[1:-1]}; here log-attention moves over "
        f"{swing:.1f} nats, with a slope of {slope:+.4f} per token."
    )


def _picker(i: int, checkpoint: str) -> Callable[[int, int], None]:
    def pick(layer: int, head: int) -> None:
        controls.put_side(i, SideState(checkpoint, int(layer), int(head)))

    return pick
