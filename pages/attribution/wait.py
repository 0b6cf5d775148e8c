"""What is computed on Attribution, and when: small questions at once, others when asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager

import streamlit as st

from pages._shared.waiting import Waiting
from pages.attribution import results
from pages.attribution.question import Question
from pages.attribution.state import AttributionState
from viz_core import devices
from viz_core.attribution import pattern, tokens
from viz_core.words import say

EASY = 128 * tokens.STEPS  # tokens times passes: about a second on two cores


def wanted(asked: Question, state: AttributionState) -> Hashable:
    """What an answer belongs to; any layer's map of it is part of it."""
    sha = asked.checkpoint.sha256, asked.passage.sha256
    return (*sha, asked.target, state.method, state.steps)


def easy(asked: Question, state: AttributionState) -> bool:
    """Whether the answer comes in about a second, so that nobody need ask for it."""
    most = max(tokens.passes(state.method, asked.target.reads, state.steps), state.steps)
    return most * asked.target.reads <= EASY and not cancelled(wanted(asked, state))


def cancelled(what: Hashable) -> bool:
    """Whether this visitor has ended the computation of `what`."""
    return bool(st.session_state.get("attrib_cancelled") == what)


def pick(token: int) -> None:
    """Asks why `token` comes next, at once."""
    st.session_state.attrib_many = False
    st.session_state.attrib_last = token - 1
    st.session_state.attrib_token = ""
    st.session_state.attrib_picked = True


def agreed(what: Hashable, pressed: bool, unasked: bool = False) -> bool:
    """Whether to compute `what`: its button was pressed, now or before, or it is done `unasked`."""
    if pressed:
        _done().add(what)
        st.session_state.attrib_cancelled = None
    return unasked or what in _done()


@contextmanager
def waiting(what: Hashable, key: str) -> Iterator[Waiting]:
    """Shows how far the computation of `what` is; who cancels has to ask for it again."""
    place = st.empty()

    def cancel() -> None:
        st.session_state.attrib_cancelled = what
        _done().discard(what)

    yield Waiting(place, cancel, key=f"{key}_cancel")
    place.empty()


def estimate(asked: Question, state: AttributionState) -> str:
    """What an answer takes, in words: passes and memory."""
    model, read = results.model(asked.checkpoint), asked.target.reads
    passes = tokens.passes(state.method, read, state.steps)
    needed = (
        tokens.bytes_needed(model.config, read, model.device),
        pattern.bytes_needed(model.config, read, 1),
    )
    return say(
        "{passes} over {read:,} tokens for the text, {steps:,} with gradients for the map of a "
        "layer; at most {needed:.2g} GiB of memory, of {free:.2g} GiB that are free.",
        passes=_passes(passes, state.method in (tokens.GRADIENTS, tokens.PRODUCT)),
        read=read,
        steps=state.steps,
        needed=max(needed) / 2**30,
        free=devices.free_bytes(model.device) / 2**30,
    )


def _passes(n: int, gradients: bool) -> str:
    if gradients:
        return say("1 pass with gradients") if n == 1 else say("{n:,} passes with gradients", n=n)
    return say("1 pass") if n == 1 else say("{n:,} passes", n=n)


def _done() -> set[Hashable]:
    found: set[Hashable] = st.session_state.setdefault("attrib_done", set())
    return found
