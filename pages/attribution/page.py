"""Attribution: what attention says, and what the prediction uses of it."""

from __future__ import annotations

import streamlit as st

from pages._shared import address, offered, terms
from pages._shared.page import Page, section
from pages.attribution import controls, maps, question, results, tokens, wait, worth
from pages.attribution import state as attribution_state
from pages.attribution.question import Question
from pages.attribution.state import AttributionState
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
        asked = question.ask(state, one, question.read(state, one))
        results.to_tokens(asked, state.method, state.steps, ignore)
        results.to_pattern(asked, state.layer, state.steps, ignore)


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
            asked, wrong = attribution_state.decoded(asked_for)
            wrong += _unknown(asked, shipped)
        st.session_state.attrib_wrong = wrong
        controls.seed(asked)
    controls.keep()
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
    controls.model_and_text(shipped)
    chosen = shipped[st.session_state.attrib_checkpoint]
    text = _text(chosen)
    if text is not None:
        section(_explained, chosen, text)
        st.divider()
        controls.losses(chosen.config.length)
        state = controls.state()
        section(worth.importance, state, chosen, text)
        section(worth.reach, controls.state(), chosen, text)
    _remember()


def _text(chosen: Checkpoint) -> Passage | None:
    """The text, with what it falls short of; None, and a sentence, where it can't be explained."""
    try:
        results.model(chosen)  # refuses one that isn't ours
        found = question.read(controls.state(), chosen)
    except AtlasError as error:
        st.error(str(error))
        return None
    if found.note:
        st.info(found.note)
    return found


def _explained(chosen: Checkpoint, text: Passage) -> None:
    """What is asked, and the answer: on the text, on the map, by distance."""
    controls.target(len(text.ids) - 2)
    asked: Question | None = None
    try:
        asked = question.ask(controls.state(), chosen, text)
    except AtlasError as error:
        st.error(str(error))
    simple = asked is None or wait.easy(asked, controls.state())
    pressed = controls.method(simple) or st.session_state.pop("attrib_picked", False)
    _remember()
    if asked is None:
        return
    state = controls.state()
    wanted = wait.wanted(asked, state)
    st.caption(wait.estimate(asked, state))
    if wait.agreed(wanted, pressed, wait.easy(asked, state)):
        section(tokens.show, asked, state)
        section(maps.show, asked, state)
    elif wait.cancelled(wanted):
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
    st.session_state.attribution = controls.state()
    address.publish(st.session_state.attribution.encoded())


if __name__ == "__main__":
    main()
