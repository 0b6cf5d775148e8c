"""The controls of Attribution: widgets seeded from the address once, then the person's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import streamlit as st

from pages.attribution.state import LENGTHS, PLACES, STEPS, AttributionState
from viz_core import series, texts
from viz_core.attribution import KINDS, METHODS, REPLACEMENTS
from viz_core.catalogue import Checkpoint
from viz_core.model import ModelConfig
from viz_core.words import mark, say

NAMES = tuple(f.name for f in fields(AttributionState))  # each has a widget of its name
METHOD_NAMES = {
    "integrated-gradients": mark("Integrated gradients"),
    "gradient-x-activation": mark("Gradient × activation"),
    "occlusion": mark("Occlusion"),
    "feature-ablation": mark("Feature ablation"),
}
KIND_NAMES = {
    "log-probability": mark("Log-probability"),
    "logit": mark("Logit"),
    "difference": mark("Difference of two tokens"),
}
PLACE_NAMES = {"near": mark("Near"), "far": mark("Far"), "beyond": mark("Beyond L")}
REPLACEMENT_NAMES = {
    "zero": mark("Zero"),
    "mean": mark("Mean"),
    "uniform": mark("Uniform attention"),
    "position": mark("Position alone"),
}
AXIS_NAMES = {"layer": mark("Layer"), "head": mark("Head")}


def seed(state: AttributionState) -> None:
    """Puts `state` into the widgets' keys, before they are drawn."""
    for name in NAMES:
        st.session_state[f"attrib_{name}"] = getattr(state, name)


def keep() -> None:
    """Holds on to the values of widgets that this run may not draw."""
    for name in NAMES:
        st.session_state[f"attrib_{name}"] = st.session_state[f"attrib_{name}"]


def state() -> AttributionState:
    """What all widgets say now."""
    values = {name: st.session_state[f"attrib_{name}"] for name in NAMES}
    return AttributionState(**values)


def model_and_text(shipped: dict[str, Checkpoint]) -> None:
    """Which model reads what."""
    s = st.session_state
    if s.attrib_checkpoint not in shipped:
        s.attrib_checkpoint = next(iter(shipped))
    names = {c.id: c.title for c in texts.available()} | {texts.PASTED: say("Your own text…")}
    if s.attrib_text not in names:
        s.attrib_text = next(iter(names))
    row = st.container(horizontal=True, gap="medium", vertical_alignment="top")
    row.selectbox(
        say("Checkpoint"),
        sorted(shipped, key=lambda n: (n not in series.ORDER, n)),
        format_func=lambda n: series.name(shipped[n].config.encoding, "", n),
        key="attrib_checkpoint",
        width=150,
        help=say("Which trained model. They differ in their position encoding alone."),
    )
    row.selectbox(
        say("Text"), list(names), format_func=names.__getitem__, key="attrib_text", width=250
    )
    row.selectbox(
        say("Length (tokens)"),
        LENGTHS,
        format_func=lambda n: f"{n:,}",
        key="attrib_length",
        width=130,
        help=say(
            "How much of the text the model reads. Time grows with it; that of the map, with its "
            "square."
        ),
    )
    if s.attrib_text == texts.PASTED:
        st.text_area(
            say("Your own text"),
            key="attrib_paste",
            height=120,
            placeholder=say("Paste a text here; it stays in this browser tab and in its address."),
            help=say("Texts up to 2,000 characters travel in the address; longer ones don't."),
        )


def target(end: int) -> None:
    """What is explained, of a text whose queries 0 to `end` have a token that follows."""
    s = st.session_state
    row = st.container(horizontal=True, gap="medium", vertical_alignment="top")
    row.segmented_control(
        say("What is explained"),
        (False, True),
        format_func=lambda many: say("Mean over many") if many else say("One prediction"),
        key="attrib_many",
        required=True,
        help=say(
            "What the model says of the next token: at one query, or as the mean over all queries "
            "of a range."
        ),
    )
    for name, label, usual in _queries(s.attrib_many, end):
        if s[f"attrib_{name}"] is not None:
            s[f"attrib_{name}"] = min(s[f"attrib_{name}"], end)
        row.number_input(
            label,
            0,
            end,
            value=None,
            key=f"attrib_{name}",
            placeholder=f"{usual:,}",
            width=150,
            help=say("Counted from 0 to {end:,}; empty for {usual:,}.", end=end, usual=usual),
        )
    row.selectbox(
        say("Number"),
        KINDS,
        format_func=lambda kind: say(KIND_NAMES[kind]),
        key="attrib_kind",
        width=220,
        help=say(
            "Of the next token. A log-probability also moves when other tokens become more likely; "
            "a difference of logits says which of two, and nothing else."
        ),
    )
    row.text_input(
        say("Token"),
        key="attrib_token",
        placeholder=say("the one that follows"),
        width=180,
        help=say("Another token to ask about, instead of the one that follows in the text."),
    )
    if s.attrib_kind == "difference":
        row.text_input(
            say("Less that of"),
            key="attrib_against",
            placeholder=say("another token"),
            width=150,
            help=say("The other token of the difference."),
        )


def _queries(many: bool, end: int) -> list[tuple[str, str, int]]:
    """The widgets of queries: name, label, and what an empty one stands for."""
    if many:
        return [("first", say("From query"), (end + 1) // 2), ("last", say("To query"), end)]
    return [("last", say("After query"), end)]


def method(easy: bool) -> bool:
    """How it is explained; whether Compute was pressed, which `easy` questions don't ask for."""
    row = st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
    row.selectbox(
        say("Method"),
        list(METHODS),
        format_func=lambda method: say(METHOD_NAMES[method]),
        key="attrib_method",
        width=220,
        help=_explained(METHOD_NAMES, METHODS),
    )
    row.selectbox(
        say("Steps"),
        STEPS,
        key="attrib_steps",
        width=100,
        help=say(
            "Of integrated gradients, for the tokens and for the map. More steps bring the sum of "
            "the attributions nearer to what they explain."
        ),
    )
    return not easy and row.button(say("Compute"), type="primary", key="attrib_compute")


def place(config: ModelConfig) -> tuple[int, int]:
    """The layer and head that the maps and profiles are of, from 0."""
    s = st.session_state
    row = st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
    for name, end in (("layer", config.layers), ("head", config.heads)):
        s[f"attrib_{name}"] = min(s[f"attrib_{name}"], end - 1)
        row.segmented_control(
            say(AXIS_NAMES[name]),
            range(end),
            format_func=lambda n: str(n + 1),
            key=f"attrib_{name}",
            required=True,
        )
    return int(s.attrib_layer), int(s.attrib_head)


def losses(trained: int) -> None:
    """At which targets losses are read: for importance and for reach."""
    st.segmented_control(
        say("Targets"),
        PLACES,
        format_func=lambda place: say(PLACE_NAMES[place]),
        key="attrib_place",
        required=True,
        help=say(
            "Near: tokens with 1 to {near:,} tokens before them. Far: the second half of the "
            "trained length, L = {trained:,}. Beyond L: past it, in texts of twice that length.",
            near=trained // 8,
            trained=trained,
        ),
    )


def replacement() -> None:
    """What stands in the place of a head."""
    st.segmented_control(
        say("Replaced by"),
        list(REPLACEMENTS),
        format_func=lambda replacement: say(REPLACEMENT_NAMES[replacement]),
        key="attrib_replacement",
        required=True,
        help=_explained(REPLACEMENT_NAMES, REPLACEMENTS),
    )


def kept(count: int) -> None:
    """Whether the first `count` keys stay, whatever the reach."""
    st.checkbox(
        say("First keys kept"),
        key="attrib_kept",
        help=say(
            "Many heads look at the first keys as a sink. With the first {count} kept at any "
            "reach, a loss is not for want of them.",
            count=count,
        ),
    )


def _explained(names: Mapping[str, str], meanings: Mapping[str, str]) -> str:
    """What each of the things called `names` is, in one line."""
    said = [
        say("**{name}**: {meaning}", name=say(names[i]), meaning=say(meaning))
        for i, meaning in meanings.items()
    ]
    return say("{list}.", list=say("; ").join(said))
