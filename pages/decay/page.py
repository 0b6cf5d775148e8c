"""Decay: decay laws, stairs and ripples of trained checkpoints, as numbers that can be wrong."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._shared import address, offered, setting_choices, tables, terms
from pages._shared.page import Page, section
from pages._shared.waiting import Waiting
from pages.decay import (
    claims,
    controls,
    curves,
    kinds,
    missing,
    portraits,
    ripples,
    stairs,
    what_if,
)
from pages.decay import state as decay_state
from pages.decay.portraits import Sitter
from pages.decay.state import DecayState
from viz_core import series, texts
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.words import mark, say

PAGE = Page(
    title=mark("Decay"),
    icon=":material/stairs:",
    order=3,
    about=mark(
        "Attention by distance: decay laws, stairs and ripples of every head, each with a null."
    ),
)


def prepare() -> None:
    """Computes the first view's statistics ahead of any visitor. Raises AtlasError."""
    for one in portraits.shipped(DecayState().chosen, offered.shipped()[0]):
        portraits.statistics(one)


def main() -> None:
    st.title(say(PAGE.title), anchor=False, help=terms.of("attention", "query", "key", "token"))
    shipped, damaged = offered.checkpoints()
    for sentence in damaged:
        st.error(sentence)
    if "decay_source" not in st.session_state:  # a first visit, or back from another page
        st.session_state.decay_address = asked = address.asked()
        kept = st.session_state.get("decay", DecayState())
        controls.seed(decay_state.decoded(asked)[0] if asked else kept)
    controls.keep()
    for sentence in missing.in_vain(st.session_state.decay_address, shipped):
        st.warning(sentence)
    st.markdown(
        say(
            "How does attention fall off with distance, and why? **ALiBi** sets a straight line, "
            "half as steep from head to head; **T5** learns a table with steps; **RoPE** leaves "
            "ripples at the wavelengths of its rotations. Each of these claims is a number here, "
            "and stands beside its null: what chance, or attention without any preference, would "
            "give."
        )
    )
    sitters = list[Sitter]()
    try:
        pressed = controls.sources(shipped)
        sitters = _sitters(shipped, pressed)
    except AtlasError as error:
        st.error(str(error))
    if sitters:
        _sections(sitters, shipped)
    _remember()
    if shipped:
        section(what_if.show, shipped)
    if sitters:
        section(kinds.shift, sitters)
        section(_numbers, sitters)
    _remember()  # the controls of the comparison too


def _sections(sitters: Sequence[Sitter], shipped: dict[str, Checkpoint]) -> None:
    section(claims.show, sitters)
    first = sitters[0].portrait
    controls.estimator(portraits.false_slope(first), first.length)
    layers, heads = curves.grid(sitters)
    many = layers * heads > curves.MOST  # then the layer is chosen before curves, too
    place = controls.place(layers, heads) if many else (0, 0)
    section(curves.curves, sitters)
    section(curves.scatter, sitters)
    place = place if many else controls.place(layers, heads)
    section(stairs.across, sitters, place[0])
    section(stairs.within, sitters, place)
    section(ripples.swings, sitters, place)
    if rotating := [one for one in sitters if len(one.portrait.theta)]:
        section(ripples.rotation, rotating, shipped.get(rotating[0].id), place)
    section(kinds.sorted_heads, sitters)
    section(kinds.shares, sitters)


def _sitters(shipped: dict[str, Checkpoint], pressed: bool) -> list[Sitter]:
    """The portraits that the controls ask for; a sentence for each that there is none of."""
    state = controls.state()
    if not state.chosen:
        st.info(say("Choose a checkpoint to see its heads."))
        return []
    if state.source == "own":
        return _measured(state, shipped, pressed)
    found = portraits.shipped(state.chosen, shipped)
    lost = [n for n in state.chosen if n not in {one.id for one in found}]
    if own := [n for n in lost if n not in offered.shipped()[0]]:
        st.info(
            say(
                "Nothing is shipped about {names}, an upload: choose “My own measurement” to "
                "measure it here.",
                names=say(", ").join(own),
            )
        )
    if lost := [n for n in lost if n not in own]:
        st.info(
            say(
                "Expected portraits of {names} in `checkpoints/results`; there are none. "
                "Run `make results`, or measure them here: choose “My own measurement”.",
                names=say(", ").join(lost),
            )
        )
    for one in found:
        if one.note:
            st.warning(one.note)
    return found


def _measured(state: DecayState, shipped: dict[str, Checkpoint], pressed: bool) -> list[Sitter]:
    """Portraits on the person's own terms, once asked for."""
    wanted = (state.chosen, state.setting, state.text, state.length, state.texts)
    done = st.session_state.setdefault("decay_done", set())  # what this visitor has computed
    if not pressed and wanted not in done:
        names = [series.name(shipped[n].config.encoding, "", n) for n in state.chosen]
        st.info(
            say(
                "Compute measures {names} over {texts} passages of {length:,} tokens: seconds to "
                "minutes.",
                names=say(", ").join(names),
                texts=state.texts,
                length=state.length,
            )
        )
        return []
    waiting, read = Waiting(place := st.empty()), list[texts.Passage]()
    found, wrong = [], dict[str, list[str]]()  # ids by what stands in their way
    for one in (shipped[n] for n in state.chosen):
        setting = state.setting if setting_choices.fits(one, state.setting) else ""
        try:
            read += (some := portraits.passages(state, one))
            found.append(portraits.measured(one, setting, state.text, some, waiting))
        except AtlasError as error:  # what this one can't do, others may
            wrong.setdefault(str(error), []).append(one.id)
    place.empty()
    for sentence, ids in wrong.items():
        names = say(", ").join(ids)
        if len(ids) > 1:
            st.error(say("{names} are left out. {reason}", names=names, reason=sentence))
        else:
            st.error(say("{name} is left out. {reason}", name=names, reason=sentence))
    portraits.notes(read, (shipped[n] for n in state.chosen))
    if state.setting and not any(one.portrait.setting for one in found):
        st.info(
            say(
                "None of the chosen checkpoints has the setting {setting}: all are as trained.",
                setting=setting_choices.words(state.setting),
            )
        )
    done.add(wanted)
    return portraits.told_apart(found)


def _numbers(sitters: Sequence[Sitter]) -> None:
    """Every statistic of every head, to take away."""
    st.subheader(say("All numbers"), anchor=False)
    title = say("Every statistic of every head, with its null")
    tables.numbers(portraits.table(sitters), "decay_signatures", title)


def _remember() -> None:
    """The state into the address, and into the session for when the page is opened again."""
    st.session_state.decay = controls.state()
    address.publish(st.session_state.decay.encoded())


if __name__ == "__main__":
    main()
