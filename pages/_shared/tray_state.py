"""The tray of this visit: what was pinned, on which page and in which state of it.

It lies in the session; the builder's address holds it too, without where pins came from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from pages._shared import address
from viz_core.plates.tray import MOST, Pin, Tray


@dataclass(frozen=True)
class Origin:
    """A page by name, and the parameters of the address at which it shows what was pinned."""

    page: str
    query: tuple[tuple[str, str], ...] = ()


def tray() -> Tray:
    """The present tray."""
    found: Tray = st.session_state.get("tray", Tray())
    return found


def put(tray: Tray) -> None:
    """Takes `tray` for the present one."""
    st.session_state.tray = tray


def pinned(pin: Pin) -> bool:
    """Whether `pin` is in the tray."""
    return pin in tray().pins


def room() -> bool:
    """Whether the tray has room for one more."""
    return len(tray().pins) < MOST


def toggle(pin: Pin, page: str = "") -> None:
    """Pins `pin`, from the present address of the `page` that shows it, if one does; takes it out
    if it is in."""
    now = tray()
    if pinned(pin):
        put(replace(now, pins=tuple(one for one in now.pins if one != pin)))
        return
    put(replace(now, pins=(*now.pins, pin)))
    if page:
        here = Origin(page, tuple(address.asked().items()))
        kept: dict[str, Origin] = st.session_state.get("tray_origins", {})
        st.session_state.tray_origins = {**kept, pin.word(): here}


def origin(pin: Pin) -> Origin | None:
    """Where `pin` was pinned in this visit; None for one that came with an address or a file."""
    found: Origin | None = st.session_state.get("tray_origins", {}).get(pin.word())
    return found


def move(place: int, by: int) -> None:
    """Exchanges the pin at `place` with the one `by` places on."""
    pins = list(tray().pins)
    pins[place], pins[place + by] = pins[place + by], pins[place]
    put(replace(tray(), pins=tuple(pins)))


def remove(place: int) -> None:
    """Takes the pin at `place` out."""
    pins = tray().pins
    put(replace(tray(), pins=pins[:place] + pins[place + 1 :]))
