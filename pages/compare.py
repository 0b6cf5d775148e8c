"""Compare, the home page: attention maps of checkpoints side by side, their decay curves below."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import streamlit as st

from pages._kit import cached, controls, draw, session
from pages._kit.page import Page
from pages._kit.session import CompareState, SideState
from viz_core import catalogue, devices, encodings, texts, trace
from viz_core.errors import AtlasError, LengthError
from viz_core.figures import attention_maps, decay_curves
from viz_core.survey import Survey
from viz_core.types import Kind

PAGE = Page(
    title="Compare",
    icon=":material/compare:",
    order=0,
    about="Attention maps of trained checkpoints side by side, and attention by distance.",
)
KINDS: dict[str, Kind] = {"mean": "log", "centred": "centred", "one": "probability"}
FIRST = (("alibi", 1, 4), ("rope", 1, 0))  # the maps that a new visitor sees


def default(shipped: dict[str, catalogue.Checkpoint]) -> CompareState:
    """The first view: ALiBi left, RoPE right, where they are shipped."""
    sides = [SideState(*s) for s in FIRST if s[0] in shipped]
    return CompareState(tuple(sides) or (SideState(next(iter(shipped)), 0, 0),))


def prepare() -> None:
    """Computes the first view ahead of any visitor. Raises AtlasError."""
    shipped, _ = cached.checkpoints()
    if shipped:
        state = default(shipped)
        passages = read(state)
        for side in state.sides:
            chosen = shipped[side.checkpoint]
            found = cached.surveyed(chosen, passages, KINDS[state.view], lambda done: None)
            wall_images(chosen, found, passages, state)


def read(state: CompareState) -> list[texts.Passage]:
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


def wall_images(
    chosen: catalogue.Checkpoint, found: Survey, passages: list[texts.Passage], state: CompareState
) -> list[bytes]:
    """The thumbnails of all heads of `chosen`."""
    key = (chosen.sha256, state.view, *(p.sha256 for p in passages))
    c = chosen.config
    return cached.thumbnails(key, found, c.encoding, c.length, state.linear)


def main() -> None:
    st.title("Attention Atlas", anchor=False)
    shipped, damaged = cached.checkpoints()
    for sentence in damaged:
        st.error(sentence)
    if not shipped:
        st.info(
            "Expected trained checkpoints in the folder `checkpoints`; there are none. "
            "Run `make checkpoints` to train them."
        )
        return
    if "length" not in st.session_state:  # the address counts once; then the widgets do
        asked, wrong = st.session_state.get("compare", default(shipped)), []
        if st.query_params:  # none where one comes back from another page
            asked, wrong = session.decoded(st.query_params, default(shipped))
        wrong += [
            f"Expected a checkpoint among {', '.join(shipped)}; the address names "
            f"{s.checkpoint[:40]!r}, so another is shown."
            for s in asked.sides
            if s.checkpoint not in shipped
        ]
        st.session_state.wrong = wrong
        controls.seed(asked)
    controls.keep()
    for sentence in st.session_state.wrong:
        st.warning(sentence)
    st.markdown(
        "Each row of a map is a query token, each column a key before it; colour says how much "
        "the one attends to the other. **ALiBi** lets attention fall off in a straight line, "
        "each head half as steeply as the one before: a staircase across heads. **RoPE** turns "
        "queries and keys against each other, and attention ripples with distance."
    )
    first = next(iter(shipped.values()))
    if "longest" not in st.session_state:  # once: choices that come and go would move the slider
        st.session_state.longest = trace.longest(cached.model(first), devices.best())
    controls.shared(texts.available(), first.config.length, st.session_state.longest)
    columns = st.columns(st.session_state.count, gap="medium")
    sides = []
    for i, column in enumerate(columns):
        with column:
            sides.append(controls.side(i, shipped))
    state = st.session_state.compare = controls.state(sides)
    st.query_params.from_dict(state.encoded())
    try:
        show(state, shipped)
    except LengthError as error:
        st.error(str(error))
        if error.largest:
            st.button(
                f"Use {error.largest:,} tokens",
                on_click=st.session_state.update,
                args=({"length": error.largest},),
            )
    except AtlasError as error:
        st.error(str(error))


def show(state: CompareState, shipped: dict[str, catalogue.Checkpoint]) -> None:
    """Maps, walls and curves of `state`. Raises AtlasError with what stands in the way."""
    for name in {side.checkpoint for side in state.sides}:  # before any text is read for it
        trace.check_length(cached.model(shipped[name]), state.length, devices.best())
    passages = read(state)
    for note in dict.fromkeys(p.note for p in passages if p.note):
        st.info(note)
    place = st.empty()
    surveys = []
    for side in state.sides:
        report = draw.reporter(place, encodings.get(shipped[side.checkpoint].config.encoding).name)
        chosen = shipped[side.checkpoint]
        surveys.append(cached.surveyed(chosen, passages, KINDS[state.view], report))
    place.empty()
    configs = [shipped[s.checkpoint].config for s in state.sides]
    cards = [encodings.get(c.encoding) for c in configs]
    titles = [
        f"{card.name} · layer {s.layer + 1}, head {s.head + 1}"
        for card, s in zip(cards, state.sides, strict=True)
    ]
    parts = list(zip(state.sides, surveys, configs, titles, strict=True))
    figure = attention_maps.build(
        [
            attention_maps.Side(v.windows[s.layer], s.head, title, c.encoding, c.length)
            for s, v, c, title in parts
        ],
        state.linear,
    )
    st.markdown(
        "\n".join(_sentence(s, v, card) for (s, v, _, _), card in zip(parts, cards, strict=True))
    )
    one = KINDS[state.view] == "probability"
    names = texts.pieces(passages[0].ids, cached.tokenizer()) if one else []
    draw.maps(figure, [names] * len(parts), key="maps")
    st.caption(figure.caption)
    for i, (column, (s, v, c, _)) in enumerate(zip(st.columns(len(parts)), parts, strict=True)):
        with column:
            draw.wall(
                wall_images(shipped[s.checkpoint], v, passages, state),
                c.heads,
                (s.layer, s.head),
                cards[i].name,
                c.encoding,
                key=f"wall{i}",
                on_pick=_picker(i, s.checkpoint),
            )
    st.subheader("Attention by distance", anchor=False)
    curves = decay_curves.build(
        [
            decay_curves.Side(
                v.curves[s.layer], v.laws[s.layer], s.head, title, c.encoding, c.length
            )
            for s, v, c, title in parts
        ],
        state.x_log,
    )
    draw.charts(curves, key="curves")
    st.caption(curves.caption)


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


if __name__ == "__main__":
    main()
