"""Decay: decay laws, stairs and ripples of trained checkpoints, as numbers that can be wrong."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._kit import (
    cached,
    lab,
    language,
    portray,
    portray_claims,
    portray_controls,
    portray_curves,
    portray_kinds,
    portray_ripples,
    portray_settings,
    portray_stairs,
    portray_state,
    portray_what_if,
    tables,
)
from pages._kit.page import Page, section
from pages._kit.portray import Sitter
from pages._kit.portray_state import DecayState
from pages._kit.waiting import Waiting
from viz_core import texts
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError

PAGE = Page(
    title="Decay",
    icon=":material/stairs:",
    order=3,
    about="Attention by distance: decay laws, stairs and ripples of every head, each with a null.",
)


def prepare() -> None:
    """Computes the first view's statistics ahead of any visitor. Raises AtlasError."""
    for one in portray.shipped(DecayState().chosen, cached.shipped()[0]):
        portray.statistics(one)


def main() -> None:
    st.title("Decay", anchor=False)
    shipped, damaged = cached.checkpoints()
    for sentence in damaged:
        st.error(sentence)
    if "decay_source" not in st.session_state:  # a first visit, or back from another page
        asked, wrong = st.session_state.get("decay", DecayState()), list[str]()
        if asked_for := language.asked():
            asked, wrong = portray_state.decoded(asked_for)
            wrong += _unknown(asked, shipped)
        st.session_state.decay_wrong = wrong
        portray_controls.seed(asked)
    portray_controls.keep()
    for sentence in st.session_state.decay_wrong:
        st.warning(sentence)
    st.markdown(
        "How does attention fall off with distance, and why? **ALiBi** sets a straight line, half "
        "as steep from head to head; **T5** learns a table with steps; **RoPE** leaves ripples at "
        "the wavelengths of its rotations. Each of these claims is a number here, and stands "
        "beside its null: what chance, or attention without any preference, would give."
    )
    sitters = list[Sitter]()
    try:
        pressed = portray_controls.sources(shipped)
        sitters = _sitters(shipped, pressed)
    except AtlasError as error:
        st.error(str(error))
    if sitters:
        _sections(sitters, shipped)
    _remember()
    if shipped:
        section(portray_what_if.show, shipped)
    if sitters:
        section(portray_kinds.shift, sitters)
        section(_numbers, sitters)
    _remember()  # the controls of the comparison too


def _sections(sitters: Sequence[Sitter], shipped: dict[str, Checkpoint]) -> None:
    section(portray_claims.show, sitters)
    first = sitters[0].portrait
    portray_controls.estimator(portray.false_slope(first), first.length)
    layers, heads = portray_curves.grid(sitters)
    many = layers * heads > portray_curves.MOST  # then the layer is chosen before curves, too
    place = portray_controls.place(layers, heads) if many else (0, 0)
    section(portray_curves.curves, sitters)
    section(portray_curves.scatter, sitters)
    place = place if many else portray_controls.place(layers, heads)
    section(portray_stairs.across, sitters, place[0])
    section(portray_stairs.within, sitters, place)
    section(portray_ripples.swings, sitters, place)
    if rotating := [one for one in sitters if len(one.portrait.theta)]:
        section(portray_ripples.rotation, rotating, shipped.get(rotating[0].id), place)
    section(portray_kinds.sorted_heads, sitters)
    section(portray_kinds.shares, sitters)


def _sitters(shipped: dict[str, Checkpoint], pressed: bool) -> list[Sitter]:
    """The portraits that the controls ask for; a sentence for each that there is none of."""
    state = portray_controls.state()
    if not state.chosen:
        st.info("Choose a checkpoint to see its heads.")
        return []
    if state.source == "own":
        return _measured(state, shipped, pressed)
    found = portray.shipped(state.chosen, shipped)
    lost = [n for n in state.chosen if n not in {one.id for one in found}]
    if own := [n for n in lost if n not in cached.shipped()[0]]:
        st.info(
            f"Nothing is shipped about {', '.join(own)}, an upload: choose “My own measurement” to "
            "measure it here."
        )
    if lost := [n for n in lost if n not in own]:
        st.info(
            f"Expected portraits of {', '.join(lost)} in `checkpoints/results`; there are none. "
            "Run `make results`, or measure them here: choose “My own measurement”."
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
        names = [lab.name(shipped[n].config.encoding, "", n) for n in state.chosen]
        st.info(
            f"Compute measures {', '.join(names)} over {state.texts} passages of "
            f"{state.length:,} tokens: seconds to minutes."
        )
        return []
    waiting, read = Waiting(place := st.empty()), list[texts.Passage]()
    found, wrong = [], dict[str, list[str]]()  # ids by what stands in their way
    for one in (shipped[n] for n in state.chosen):
        setting = state.setting if portray_settings.fits(one, state.setting) else ""
        try:
            read += (some := portray.passages(state, one))
            found.append(portray.measured(one, setting, state.text, some, waiting))
        except AtlasError as error:  # what this one can't do, others may
            wrong.setdefault(str(error), []).append(one.id)
    place.empty()
    for sentence, ids in wrong.items():
        st.error(f"{', '.join(ids)} {'are' if len(ids) > 1 else 'is'} left out. {sentence}")
    portray.notes(read)
    if state.setting and not any(one.portrait.setting for one in found):
        words = portray_settings.words(state.setting)
        st.info(f"None of the chosen checkpoints has the setting {words}: all are as trained.")
    done.add(wanted)
    return portray.told_apart(found)


def _unknown(state: DecayState, shipped: dict[str, Checkpoint]) -> list[str]:
    """A sentence for each name in the address that isn't there."""
    if not shipped:
        return []
    wrong = [
        f"Expected a checkpoint among {', '.join(shipped)}; the address names {name[:40]!r}, so it "
        "is left out."
        for name in dict.fromkeys((*state.chosen, state.changed))
        if name not in shipped
    ]
    if state.view and state.view not in state.chosen:
        wrong.append(
            f"Expected view in the address among the chosen checkpoints; got {state.view[:40]!r}, "
            "so all are shown."
        )
    changed = shipped.get(state.changed)
    if "what" in st.query_params and changed and not portray_settings.fits(changed, state.what):
        wrong.append(
            f"Expected what in the address to be a setting of {state.changed}; got "
            f"{state.what.replace(':', '-')!r}, so another is shown."
        )
    known = [c.id for c in texts.available()]
    if "text" in st.query_params and state.text not in known:
        wrong.append(
            f"Expected text in the address among {', '.join(known[:6])}; got "
            f"{state.text[:40]!r}, so another is shown."
        )
    configs = [shipped[n].config for n in state.chosen if n in shipped]
    configs = configs or [next(iter(shipped.values())).config]
    ends = min(c.layers for c in configs), min(c.heads for c in configs)
    for name, most in zip(("layer", "head"), ends, strict=True):
        if name in st.query_params and getattr(state, name) >= most:
            wrong.append(
                f"Expected {name} in the address to be a number from 1 to {most}; got "
                f"{getattr(state, name) + 1}, so {most} is shown."
            )
    return wrong


def _numbers(sitters: Sequence[Sitter]) -> None:
    """Every statistic of every head, to take away."""
    st.subheader("All numbers", anchor=False)
    title = "Every statistic of every head, with its null"
    tables.numbers(portray.table(sitters), "decay_signatures", title)


def _remember() -> None:
    """The state into the address, and into the session for when the page is opened again."""
    st.session_state.decay = portray_controls.state()
    language.publish(st.session_state.decay.encoded())


if __name__ == "__main__":
    main()
