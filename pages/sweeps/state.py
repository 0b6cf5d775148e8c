"""The state of Sweeps as the address carries it: which sweep, and of which text and length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from pages._shared import decoding
from pages._shared.decoding import VERSION


@dataclass(frozen=True)
class SweepsState:
    """A sweep by its name, and what its figure is of; "" where nothing is chosen."""

    sweep: str = ""
    text: str = ""
    length: str = ""

    def encoded(self) -> dict[str, str]:
        """The query parameters of the address; what isn't chosen is left out."""
        chosen = {one.name: getattr(self, one.name) for one in fields(self)}
        return {"v": VERSION} | {name: value for name, value in chosen.items() if value}


def decoded(query: Mapping[str, str], known: list[str]) -> tuple[SweepsState, list[str]]:
    """(the state that `query` asks for, a sentence for each part that could not be read).

    `known`: the names of sweeps. Texts and lengths are known once a sweep is read.
    """
    if wrong := decoding.foreign(query):
        return SweepsState(), wrong
    asked = decoding.Asked(query, SweepsState()).names("sweep", "text", "length")
    state = SweepsState(**asked)
    if state.sweep and state.sweep not in known:
        return SweepsState(), [decoding.unknown("sweep", known, state.sweep)]
    return state, []
