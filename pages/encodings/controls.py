"""The controls of Encodings: widgets seeded from the address once, then the person's own."""

from __future__ import annotations

import math

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._shared.boxes import Box
from pages.encodings.state import (
    HEADS,
    LENGTH,
    SIDES,
    TRAINED,
    WIDTH,
    AtlasSide,
    AtlasState,
    chosen,
    fits,
    knobs,
)
from viz_core import series, variants
from viz_core.encodings import Encoding, Parameter, Value, all_encodings
from viz_core.words import mark, say

PLAIN = ("heads", "width", "trained", "length", "head", "x_log")  # fields with a widget each
SHORTEST = 64  # tokens, of the lengths on a slider
WIDE, WIDER = 100.0, 1e6  # highest / lowest from which a slider goes by octaves, by decades
NAMES = {  # of parameters; one of one's own is called by its id
    "base": mark("Base"),
    "buckets": mark("Buckets"),
    "exponent": mark("Exponent"),
    "factor": mark("Factor s"),
    "fall": mark("Fall per bucket (nats)"),
    "kernel": mark("Kernel"),
    "layout": mark("Layout"),
    "max_distance": mark("Max distance"),
    "r1": "r₁",
    "r2": "r₂",
    "scaling": mark("Scaling"),
    "share": mark("Share p"),
    "span": mark("Span B (tokens)"),
    "theta": mark("Base θ"),
    "waves": mark("Waves"),
}
CHOICES = {  # of parameters, where they are called otherwise
    **variants.FACTORS,
    "dynamic": "dynamic NTK",
    "half": mark("half"),
    "interleaved": mark("interleaved"),
    "log": mark("log"),
    "none": mark("none"),
    "power": mark("power"),
}


def seed(state: AtlasState) -> None:
    """Puts `state` into the widgets' keys, before any of them is drawn."""
    s = st.session_state
    for name in PLAIN:
        s[f"atlas_{name}"] = getattr(state, name)
    s.atlas_count = len(state.sides)
    s.atlas_trail = (state.box,) if state.box else ()
    for i, side in enumerate((*state.sides, *AtlasState().sides[len(state.sides) :])):
        s[f"atlas_encoding{i}"] = side.encoding
        given = dict(side.values)
        for card in all_encodings().values():
            for p in knobs(card):
                mine = card.id == side.encoding and p.name in given
                s[_key(i, card, p)] = given[p.name] if mine else p.default


def keep() -> None:
    """Holds on to the values of widgets that this run may not draw."""
    cards = all_encodings().values()
    names = [f"atlas_{name}" for name in (*PLAIN, "count")]
    for i in range(len(SIDES)):
        names += [f"atlas_encoding{i}", *(_key(i, card, p) for card in cards for p in knobs(card))]
    for name in names:
        st.session_state[name] = st.session_state[name]


def state() -> AtlasState:
    """What all widgets say now."""
    s = st.session_state
    sides = []
    for i in range(s.atlas_count):
        card = all_encodings()[s[f"atlas_encoding{i}"]]
        values = {p.name: s[_key(i, card, p)] for p in knobs(card)}
        sides.append(AtlasSide(card.id, chosen(knobs(card), values)))
    box = s.atlas_trail[-1] if s.atlas_trail else None
    return AtlasState(sides=tuple(sides), box=box, **{n: s[f"atlas_{n}"] for n in PLAIN})


def shared() -> None:
    """The row of controls that hold for both sides: how many, and the sizes of the model."""
    s = st.session_state
    a, b, c, d, e, f = st.columns([0.8, 0.8, 0.9, 1.5, 1.5, 0.8], gap="medium")
    a.segmented_control(
        say("Encodings"),
        range(1, len(SIDES) + 1),
        key="atlas_count",
        required=True,
        help=say("One encoding alone, or two side by side on the same scales."),
    )
    b.number_input(
        say("Heads"),
        *HEADS,
        step=1,
        key="atlas_heads",
        help=say("Attention heads of a layer. ALiBi gives each a slope of its own."),
    )
    c.number_input(
        say("Head width"),
        *WIDTH,
        step=2,
        key="atlas_width",
        help=say(
            "Channels D of each head. RoPE turns them in pairs; the model is as wide as all heads "
            "together, and so are sinusoidal vectors."
        ),
    )
    marked = say("Marked in every picture. Llama 3's rule, YaRN and dynamic NTK depend on it.")
    _lengths(d, "trained", TRAINED[1], say("Trained length L (tokens)"), marked)
    held = say("How many positions the pictures hold.")
    _lengths(e, "length", LENGTH[1], say("Shown length N (tokens)"), held)
    s.atlas_head = min(s.atlas_head, s.atlas_heads - 1)
    f.selectbox(
        say("Head"),
        range(s.atlas_heads),
        format_func=lambda h: str(h + 1),
        key="atlas_head",
        help=say("Whose map and curve are shown, where heads differ."),
    )


def side(i: int) -> None:
    """The controls of one side: its encoding, and every knob that it has."""
    s = st.session_state
    cards = all_encodings()
    known = sorted(cards, key=series.place)
    st.selectbox(
        say("Encoding"),
        known,
        format_func=lambda e: cards[e].name,
        key=f"atlas_encoding{i}",
        help=say("Which position encoding this side shows."),
    )
    card = cards[s[f"atlas_encoding{i}"]]
    every = knobs(card)
    for first in range(0, len(every), 2):
        pair = every[first : first + 2]
        for column, p in zip(st.columns(len(pair), gap="medium"), pair, strict=True):
            with column:
                _knob(i, card, p)


def zoom(box: Box) -> None:
    """The maps go on to `box`."""
    st.session_state.atlas_trail = (*st.session_state.atlas_trail, box)


def back(steps: int = 1) -> None:
    """The maps go `steps` of their windows back, the last being the whole map."""
    trail = st.session_state.atlas_trail
    st.session_state.atlas_trail = trail[: max(len(trail) - steps, 0)]


def cut() -> None:
    """Leaves windows that the shown length no longer holds."""
    s = st.session_state
    s.atlas_trail = tuple(box for box in s.atlas_trail if fits(box, s.atlas_length))


def _key(i: int, card: Encoding, p: Parameter) -> str:
    return f"atlas_{card.id}_{p.name}{i}"


def _lengths(place: DeltaGenerator, name: str, longest: int, label: str, words: str) -> None:
    """A slider over powers of two, and over what the address asked for."""
    powers = {SHORTEST << n for n in range((longest // SHORTEST).bit_length())}
    place.select_slider(
        label,
        sorted(powers | {st.session_state[f"atlas_{name}"]}),
        format_func=lambda n: f"{n:,}",
        key=f"atlas_{name}",
        help=words,
    )


def _knob(i: int, card: Encoding, p: Parameter) -> None:
    """The widget of one parameter: a choice, or a slider, logarithmic where its range is wide."""
    key = _key(i, card, p)
    label = say(NAMES.get(p.name, p.name.replace("_", " ").capitalize()))
    meant = say(p.help)
    scaling = st.session_state.get(f"atlas_{card.id}_scaling{i}")
    if p.choices:
        change = {"on_change": _stretch, "args": (i, card.id)} if p.name == "scaling" else {}
        st.selectbox(label, p.choices, format_func=_words, key=key, help=meant, **change)
        return
    assert p.low is not None and p.high is not None
    idle = p.name == "factor" and scaling == "none"
    if p.low and p.high / p.low >= WIDE:
        rungs = sorted({*ladder(p), st.session_state[key]})
        st.select_slider(
            label,
            rungs,
            format_func=lambda v: f"{v:,.10g}",
            key=key,
            help=meant,
            disabled=idle,
        )
    else:
        step = p.low or (1 if isinstance(p.default, int) else p.high / 40)
        st.slider(label, p.low, p.high, step=step, key=key, help=meant)


def ladder(p: Parameter) -> list[Value]:
    """Round values from end to end of a wide range: 1, 2, 5, 10 ... or 1, 1.5, 2, 3, 4 ..."""
    assert p.low is not None and p.high is not None
    if p.high / p.low >= WIDER:
        ends = math.floor(math.log10(p.low)), math.ceil(math.log10(p.high))
        steps = [m * 10.0**e for e in range(ends[0], ends[1] + 1) for m in (1, 2, 5)]
    else:
        octaves = range(math.ceil(math.log2(p.high / p.low)) + 1)
        steps = [p.low * m * 2**e for e in octaves for m in (1, 1.5)]
    kind = type(p.default)
    return sorted({kind(v) for v in (*steps, p.default, p.high) if p.low <= v <= p.high})


def _words(choice: str) -> str:
    return say(CHOICES.get(choice, choice))


def _stretch(i: int, encoding: str) -> None:
    """A scaling that was just chosen stretches as far as is shown, unless told otherwise.

    Dynamic NTK does so by itself, with a factor of 1.
    """
    s = st.session_state
    if (
        s[f"atlas_{encoding}_scaling{i}"] in variants.FACTORS
        and s[f"atlas_{encoding}_factor{i}"] == 1
    ):
        s[f"atlas_{encoding}_factor{i}"] = max(1.0, s.atlas_length / s.atlas_trained)
