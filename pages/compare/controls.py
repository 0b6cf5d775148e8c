"""The controls of Compare: widgets seeded from the address once, then the person's own."""

from __future__ import annotations

import streamlit as st

from pages._shared import address, terms
from pages.compare import zoom
from pages.compare.state import MOST_SIDES, POOLINGS, CompareState, SideState
from viz_core import series, texts
from viz_core.catalogue import Checkpoint
from viz_core.words import mark, say

LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
VIEW_NAMES = {
    "mean": mark("Mean over texts"),
    "centred": mark("Mean over texts, row-centred"),
    "one": mark("One text"),
}
POOLING_NAMES = {"mean": mark("Mean"), "max": mark("Largest")}
PLAIN = (  # fields of the state whose widget has their name
    *("length", "text", "view", "texts", "linear", "x_log", "repeat", "paste"),
    *("linked", "pooling", "sort", "marks"),
)


def seed(state: CompareState) -> None:
    """Puts `state` into the widgets' keys and the trails, before any of them is drawn."""
    for name in PLAIN:
        st.session_state[name] = getattr(state, name)
    st.session_state.count = len(state.sides)
    for i, side in enumerate(state.sides):
        put_side(i, side)
    zoom.seed(state)


def put_side(i: int, side: SideState) -> None:
    """Puts `side` into the widgets of map `i`."""
    st.session_state[f"checkpoint{i}"] = side.checkpoint
    st.session_state[f"layer{i}"] = side.layer
    st.session_state[f"head{i}"] = side.head


def keep() -> None:
    """Holds on to the values of widgets that this run may not draw."""
    for name in list(st.session_state):
        if isinstance(name, str) and name.rstrip("0123456789") in {
            "paste",
            "repeat",
            "texts",
            "checkpoint",
            "layer",
            "head",
            "linked",
            "sort",
            "marks",
        }:
            st.session_state[name] = st.session_state[name]


def trained(shipped: dict[str, Checkpoint]) -> list[int]:
    """The trained lengths of the checkpoints that are chosen, tokens, as far as they are known."""
    names = (st.session_state.get(f"checkpoint{i}") for i in range(st.session_state.count))
    return sorted({shipped[n].config.length for n in names if n in shipped} - {0})


def shared(choices: list[texts.TextChoice], trained: list[int], longest: int) -> None:
    """The row of controls that hold for all maps: text, length, view, colours, number of maps."""
    names = {c.id: c.title for c in choices} | {"pasted": say("Your own text…")}
    if st.session_state.text not in names:
        names[st.session_state.text] = st.session_state.text
    # set anew, since the labels of the choices change with the checkpoints
    st.session_state.length = length = st.session_state.length
    lengths = sorted({n for n in LENGTHS if n <= longest} | {length})
    known = say(" and ").join(f"{n:,}" for n in trained)
    at = say("trained at {lengths}", lengths=known) if trained else say("trained length unknown")
    a, b, c, d = st.columns([1.3, 1.6, 1.4, 1.1], gap="medium", vertical_alignment="top")
    a.selectbox(
        say("Text"),
        list(names),
        format_func=names.__getitem__,
        key="text",
        help=say(
            "What the models read. Held-out documents join the list once `make corpus` has run."
        ),
    )
    b.select_slider(
        say("Length (tokens; {at})", at=at),
        lengths,
        format_func=lambda n: say("{n:,} · trained", n=n) if [n] == trained else f"{n:,}",
        key="length",
        help=say(
            "How many tokens each model reads. Here: {at}; whatever lies past a model's trained "
            "length is extrapolation.",
            at=at,
        )
        + terms.below("token", "trained length"),
    )
    c.selectbox(
        say("View"),
        list(VIEW_NAMES),
        format_func=lambda view: say(VIEW_NAMES[view]),
        key="view",
        help=say(
            "One text shows content and position together. Over several texts content fades and "
            "position stays: the mean is of log-attention (a geometric mean of attention); "
            "row-centred takes from each row its own mean, which leaves preference alone."
        )
        + terms.below("row-centred"),
    )
    with d:
        st.segmented_control(
            say("Maps"),
            range(1, MOST_SIDES + 1),
            key="count",
            required=True,
            help=say("How many maps stand side by side."),
        )
    if st.session_state.text == "pasted":
        st.text_area(
            say("Your own text"),
            key="paste",
            height=120,
            placeholder=say("Paste a text here; it stays in this browser tab and in its address."),
            help=say("Texts up to 2,000 characters travel in the address; longer ones don't."),
        )
    with st.expander(say("More settings")):
        e, f, g, h, j = st.columns(
            [1, 1.1, 1, 1.15, 1.15], gap="medium", vertical_alignment="bottom"
        )
        e.number_input(
            say("Texts in a mean"),
            2,
            32,
            key="texts",
            help=say(
                "How many passages of the text a mean is taken over, from evenly spaced places."
            ),
        )
        one = st.session_state.view == "one"
        f.segmented_control(
            say("Cells show"),
            POOLINGS,
            format_func=lambda pooling: say(POOLING_NAMES[pooling]),
            key="pooling",
            required=True,
            disabled=not one,
            help=say(
                "Where a cell holds several pairs: their mean attention, or the largest of them, "
                "which no thin line escapes."
            )
            if one
            else say(
                "Only in the view of one text: over texts it is log-attention that is averaged, "
                "and its mean is of all pairs."
            ),
        )
        g.checkbox(
            say("Linear colours"),
            key="linear",
            help=say("Colours in proportion to attention itself rather than to its logarithm."),
        )
        h.checkbox(
            say("Logarithmic distance"),
            key="x_log",
            help=say("The distance axis of the curves, in powers of ten."),
        )
        j.checkbox(
            say("Repeat short texts"),
            key="repeat",
            help=say("Fill up to the length by repeating a text that is too short for it."),
        )


def side(i: int, shipped: dict[str, Checkpoint]) -> SideState:
    """The controls above map `i`: checkpoint, layer, head."""
    known = list(shipped)
    name = st.session_state.get(f"checkpoint{i}", known[i % len(known)])
    if name not in shipped:
        name = known[i % len(known)]
    config = shipped[name].config
    st.session_state[f"checkpoint{i}"] = name
    for what, end in (("layer", config.layers), ("head", config.heads)):
        place = st.session_state.get(f"{what}{i}", end // 2)
        st.session_state[f"{what}{i}"] = min(max(place, 0), end - 1)
    a, b, c = st.columns([1.4, 1, 1], gap="small")
    # explained where it first stands, if there is room
    first = i == 0 and st.session_state.count < MOST_SIDES
    a.selectbox(
        say("Checkpoint"),
        known,
        format_func=lambda n: series.name(shipped[n].config.encoding, "", n),
        key=f"checkpoint{i}",
        help=say(
            "Which trained model. The shipped ones were trained on the same text in the same "
            "order; only the position encoding differs. Your own come from the page Checkpoints."
        )
        + terms.below("checkpoint")
        if first
        else None,
    )
    b.selectbox(
        say("Layer"),
        range(config.layers),
        format_func=lambda n: str(n + 1),
        key=f"layer{i}",
        help=say("Layers are counted from the bottom.") if first else None,
    )
    c.selectbox(
        say("Head"),
        range(config.heads),
        format_func=lambda n: str(n + 1),
        key=f"head{i}",
        help=say("A head is one attention map; the wall below shows all of them.")
        if first
        else None,
    )
    return SideState(
        st.session_state[f"checkpoint{i}"],
        st.session_state[f"layer{i}"],
        st.session_state[f"head{i}"],
    )


def state(sides: list[SideState]) -> CompareState:
    """What all widgets say now."""
    plain = {name: st.session_state[name] for name in PLAIN}
    return CompareState(sides=tuple(sides), **plain)


def publish(state: CompareState) -> None:
    """Puts `state` into the address, and where the page finds it when one comes back to it."""
    st.session_state.compare = state
    address.publish(state.encoded())
