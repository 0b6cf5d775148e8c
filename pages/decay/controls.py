"""The controls of Decay: widgets seeded from the address once, then the person's own."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._shared import setting_choices, terms
from pages.decay import portraits
from pages.decay.state import ESTIMATORS, LENGTHS, SOURCES, TEXTS, DecayState
from viz_core import series, texts
from viz_core.catalogue import Checkpoint
from viz_core.words import mark, say

PLAIN = (  # fields of the state whose widget has their name
    *("source", "estimator", "sink", "law", "x_log", "view", "layer", "head"),
    *("text", "length", "texts", "setting", "changed", "what"),
)
BUTTONS = 12  # layers or heads that have a button each; more are a list
SOURCE_NAMES = {"shipped": mark("Shipped results"), "own": mark("My own measurement")}
ESTIMATOR_NAMES = {
    "fixed": mark("Row fixed effects"),
    "logit": mark("Mean logit"),
    "mean": mark("Mean probability (biased)"),
}


def seed(state: DecayState) -> None:
    """Puts `state` into the widgets' keys, before they are drawn."""
    for name in PLAIN:
        st.session_state[f"decay_{name}"] = getattr(state, name)
    st.session_state.decay_chosen = list(state.chosen)


def keep() -> None:
    """Holds on to the values of widgets that this run may not draw."""
    for name in ("chosen", *PLAIN):
        st.session_state[f"decay_{name}"] = st.session_state[f"decay_{name}"]


def state() -> DecayState:
    """What all widgets say now; checkpoints in the order of all lists."""
    values = {name: st.session_state[f"decay_{name}"] for name in PLAIN}
    return DecayState(chosen=tuple(ordered(st.session_state.decay_chosen)), **values)


def ordered(names: Sequence[str]) -> list[str]:
    """Checkpoint ids in the order of all lists, others after them."""
    known = series.ORDER
    return sorted(names, key=lambda n: (known.index(n) if n in known else len(known), n))


def sources(shipped: dict[str, Checkpoint]) -> bool:
    """Which checkpoints, and whose portraits; whether Compute was pressed."""
    s = st.session_state
    s.decay_chosen = [n for n in s.decay_chosen if n in shipped]
    row = st.container(horizontal=True, gap="medium", vertical_alignment="top")
    row.pills(
        say("Checkpoints"),
        ordered(list(shipped)),
        format_func=lambda n: series.name(shipped[n].config.encoding, "", n),
        key="decay_chosen",
        selection_mode="multi",
        help=say(
            "The shipped ones were trained alike; they differ in their position encoding alone. "
            "Colour is the encoding."
        )
        + terms.below("checkpoint", "position encoding", "trained length"),
    )
    row.segmented_control(
        say("Measured on"),
        SOURCES,
        format_func=lambda source: say(SOURCE_NAMES[source]),
        key="decay_source",
        required=True,
        help=say(
            "What is shipped was measured once, on held-out texts of the trained length. "
            "A measurement of your own takes seconds, at a length, on a text and under a setting "
            "of your choice."
        ),
    )
    if s.decay_source != "own":
        return False
    row = st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
    _passages(row)
    known = setting_choices.choices(shipped[n] for n in s.decay_chosen)
    _setting(row, "decay_setting", say("Setting"), ["", *known], whole=True)
    return row.button(say("Compute"), type="primary", key="decay_compute")


def estimator(false_slope: float, length: int) -> None:
    """How curves are made and drawn.

    `false_slope`: what the biased estimator gives for nothing over `length` tokens, nats per token.
    """
    s = st.session_state
    unbiased = s.decay_estimator == "fixed"
    if not unbiased:
        s.decay_sink = False
    biased = say(
        "Biased: short rows weigh more and hold only small distances, so that a head without any "
        "bias shows a false slope of about {slope} nats per token (over the nearer half of "
        "{length:,} tokens).",
        slope=portraits.number(false_slope, 4),
        length=length,
    )
    row = st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
    row.selectbox(
        say("Estimator"),
        ESTIMATORS,
        format_func=lambda estimator: say(ESTIMATOR_NAMES[estimator]),
        key="decay_estimator",
        width=250,
        help=say(
            "**Row fixed effects**: each row of the map is compared with itself alone, so that "
            "its normaliser drops out; unbiased. **Mean logit**: before the softmax; rows whose "
            "logits are higher throughout weigh in. **Mean probability**: the plain mean of "
            "attention at each distance. {biased}",
            biased=biased,
        )
        + terms.below("logit"),
    )
    row.segmented_control(
        say("Distance"),
        (False, True),
        format_func=lambda log: say("logarithmic") if log else say("linear"),
        key="decay_x_log",
        required=True,
    )
    row.checkbox(say("Laws"), key="decay_law", help=say("The encoding's own curve, dashed."))
    row.checkbox(
        say("First keys in"),
        key="decay_sink",
        disabled=not unbiased,
        help=say(
            "The first keys draw attention for being first, whatever the distance, so they are "
            "left out. In, they lift the far end of the curves."
        )
        + terms.below("sink")
        if unbiased
        else say("Only with row fixed effects: the other estimators are kept without them."),
    )
    if s.decay_estimator == "mean":
        st.caption(biased)


def view(names: dict[str, str]) -> str:
    """Which of several checkpoints (names by id) the curves are of; "" is all of them."""
    s = st.session_state
    if s.decay_view not in names:
        s.decay_view = ""
    if len(names) < 2:
        return ""
    st.segmented_control(
        say("Curves of"),
        ["", *names],
        format_func=lambda n: names.get(n) or say("All, overlaid"),
        key="decay_view",
        required=True,
        label_visibility="collapsed",
    )
    return str(s.decay_view)


def place(layers: int, heads: int) -> tuple[int, int]:
    """The layer and head that the figures below are of, from 0."""
    s = st.session_state
    row = st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
    below = say("Of the figures below; grids show all heads.") + terms.below("layer")
    for name, title, end, words in (
        ("layer", say("Layer"), layers, below),
        ("head", say("Head"), heads, terms.of("head")),
    ):
        s[f"decay_{name}"] = min(s[f"decay_{name}"], end - 1)
        known, key = range(end), f"decay_{name}"
        if end > BUTTONS:
            row.selectbox(title, known, format_func=_from_one, key=key, help=words, width=110)
        else:
            row.segmented_control(
                title, known, format_func=_from_one, key=key, help=words, required=True
            )
    return int(s.decay_layer), int(s.decay_head)


def _from_one(place: int) -> str:
    return str(place + 1)


def change(shipped: dict[str, Checkpoint]) -> bool:
    """What to change of which checkpoint; whether Compute was pressed."""
    s = st.session_state
    if s.decay_changed not in shipped:
        s.decay_changed = ordered(list(shipped))[0]
    chosen = shipped[s.decay_changed]
    row = st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
    row.selectbox(
        say("Checkpoint"),
        ordered(list(shipped)),
        format_func=lambda n: series.name(shipped[n].config.encoding, "", n),
        key="decay_changed",
        width=150,
    )
    ours = setting_choices.ours(chosen)
    known = setting_choices.choices([chosen])
    if ours and (not s.decay_what or not setting_choices.fits(chosen, s.decay_what)):
        s.decay_what = known[0]
    _setting(row, "decay_what", say("What is changed"), known, whole=False, disabled=not ours)
    if s.decay_source != "own":  # else they stand further up already
        _passages(row)
    return row.button(say("Compute"), type="primary", key="decay_change", disabled=not ours)


def _setting(
    row: DeltaGenerator,
    key: str,
    label: str,
    known: list[str],
    whole: bool,
    disabled: bool = False,
) -> None:
    value = st.session_state[key]
    row.selectbox(
        label,
        known if value in known else [*known, value],  # one of the address
        format_func=lambda v: setting_choices.words(v, whole) if v else say("as trained"),
        key=key,
        width=190,
        disabled=disabled,
        help=say(
            "The same weights under another setting of their encoding. PI, NTK, YaRN and Llama 3 "
            "slow RoPE's rotations down by a factor s; θ is its base; the exponent makes ALiBi's "
            "slopes steeper or flatter. Checkpoints that it doesn't belong to stay as trained."
        ),
    )


def _passages(row: DeltaGenerator) -> None:
    """Which texts a measurement of one's own is over."""
    s = st.session_state
    names = {c.id: c.title for c in texts.available()}
    if s.decay_text not in names:
        s.decay_text = next(iter(names))
    row.selectbox(
        say("Text"), list(names), format_func=names.__getitem__, key="decay_text", width=230
    )
    for name, label, known in (
        ("length", say("Length (tokens)"), LENGTHS),
        ("texts", say("Passages"), TEXTS),
    ):
        row.selectbox(label, known, format_func=lambda n: f"{n:,}", key=f"decay_{name}", width=130)
