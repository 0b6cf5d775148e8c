"""Attribution: what attention says, and what the prediction uses of it."""

from __future__ import annotations

import streamlit as st

from pages._kit import (
    address,
    attrib_cached,
    attrib_controls,
    attrib_maps,
    attrib_question,
    attrib_state,
    attrib_tokens,
    attrib_wait,
    attrib_worth,
    offered,
    terms,
)
from pages._kit.attrib_question import Question
from pages._kit.attrib_state import AttributionState
from pages._kit.page import Page, section
from viz_core import texts
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.progress import ignore
from viz_core.texts import Passage
from viz_core.words import mark, say

PAGE = Page(
    title=mark("Attribution"),
    icon=":material/target:",
    order=4,
    about=mark(
        "What predictions need of tokens, heads and distance, next to where attention looks."
    ),
)


def prepare() -> None:
    """Computes the first view ahead of any visitor. Raises AtlasError."""
    state = AttributionState()
    one = offered.shipped()[0].get(state.checkpoint)
    if one is not None:
        asked = attrib_question.ask(state, one, attrib_question.read(state, one))
        attrib_cached.to_tokens(asked, state.method, state.steps, ignore)
        attrib_cached.to_pattern(asked, state.layer, state.steps, ignore)


def main() -> None:
    st.title(
        say(PAGE.title), anchor=False, help=terms.of("attribution", "attention", "head", "token")
    )
    shipped, damaged = offered.checkpoints()
    for sentence in damaged:
        st.error(sentence)
    if not shipped:
        st.info(say("Expected trained checkpoints; there are none. Run `make checkpoints`."))
        return
    if "attrib_checkpoint" not in st.session_state:  # a first visit, or back from another page
        asked, wrong = st.session_state.get("attribution", AttributionState()), list[str]()
        if asked_for := address.asked():
            asked, wrong = attrib_state.decoded(asked_for)
            wrong += _unknown(asked, shipped)
        st.session_state.attrib_wrong = wrong
        attrib_controls.seed(asked)
    attrib_controls.keep()
    for sentence in st.session_state.attrib_wrong:
        st.warning(sentence)
    st.markdown(
        say(
            "A map shows **where a head looks**; attribution shows **what the prediction needs**. "
            "The two differ: a head may look far and change nothing by it. Here they stand side by "
            "side, token by token, by distance, and for each head; so a ripple, a step of the "
            "staircase or a sink can be asked what it is for."
        ),
        help=terms.of("ripple", "staircase", "sink", "checkpoint"),
    )
    attrib_controls.model_and_text(shipped)
    chosen = shipped[st.session_state.attrib_checkpoint]
    text = _text(chosen)
    if text is not None:
        section(_explained, chosen, text)
        st.divider()
        attrib_controls.losses(chosen.config.length)
        state = attrib_controls.state()
        section(attrib_worth.importance, state, chosen, text)
        section(attrib_worth.reach, attrib_controls.state(), chosen, text)
    _remember()


def _text(chosen: Checkpoint) -> Passage | None:
    """The text, with what it falls short of; None, and a sentence, where it can't be explained."""
    try:
        attrib_cached.model(chosen)  # refuses one that isn't ours
        found = attrib_question.read(attrib_controls.state(), chosen)
    except AtlasError as error:
        st.error(str(error))
        return None
    if found.note:
        st.info(found.note)
    return found


def _explained(chosen: Checkpoint, text: Passage) -> None:
    """What is asked, and the answer: on the text, on the map, by distance."""
    attrib_controls.target(len(text.ids) - 2)
    asked: Question | None = None
    try:
        asked = attrib_question.ask(attrib_controls.state(), chosen, text)
    except AtlasError as error:
        st.error(str(error))
    simple = asked is None or attrib_wait.easy(asked, attrib_controls.state())
    pressed = attrib_controls.method(simple) or st.session_state.pop("attrib_picked", False)
    _remember()
    if asked is None:
        return
    state = attrib_controls.state()
    wanted = attrib_wait.wanted(asked, state)
    st.caption(attrib_wait.estimate(asked, state))
    if attrib_wait.agreed(wanted, pressed, attrib_wait.easy(asked, state)):
        section(attrib_tokens.show, asked, state)
        section(attrib_maps.show, asked, state)
    elif attrib_wait.cancelled(wanted):
        st.info(say("Cancelled. Press Compute to start again."))
    else:
        st.info(say("Press Compute to explain {asked}.", asked=asked.words))


def _unknown(state: AttributionState, shipped: dict[str, Checkpoint]) -> list[str]:
    """A sentence for each name in the address that isn't there."""
    known = {"checkpoint": list(shipped), "text": [c.id for c in texts.available()]}
    known["text"].append(texts.PASTED)
    wrong = []
    for name, names in known.items():
        got = getattr(state, name)
        if got in names:
            continue
        fields = {"name": name, "known": say(", ").join(names[:6]), "got": got[:40]}
        wrong.append(
            say(
                "Expected {name} in the address among {known}; got {got!r}, so another is shown.",
                **fields,
            )
            if len(names) <= 6
            else say(
                "Expected {name} in the address among {known} and others; got {got!r}, so another "
                "is shown.",
                **fields,
            )
        )
    return wrong


def _remember() -> None:
    """The state into the address, and into the session for when the page is opened again."""
    st.session_state.attribution = attrib_controls.state()
    address.publish(st.session_state.attribution.encoded())


if __name__ == "__main__":
    main()
