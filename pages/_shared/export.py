"""Under every figure: take it away as a file, or pin it for a figure of several.

Nothing is drawn for paper before a download is clicked: until then a figure is its FigureSpec.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import streamlit as st

from pages._shared import address, export_control, language, tray_state
from viz_core.export import Export, data
from viz_core.export.provenance import Facts, Provenance, Source, digest
from viz_core.export.target import Target
from viz_core.figures.spec import FigureSpec
from viz_core.plates.tray import MOST, Pin
from viz_core.words import say, speaking

HOME = "compare"  # the page without a name in the address


@dataclass(frozen=True)
class Shown:
    """A figure that is on the screen, and how it leaves it.

    `spec` makes it, when it is asked for; `title` is marked; `name` is the stem of its files. `pin`
    is the figure that draws the same from the command line; without one, `why`, marked, says what
    stands in the way. `sources`, made when they are needed, and `facts` are what its provenance
    says.
    """

    spec: Callable[[], FigureSpec]
    title: str
    name: str
    page: str
    pin: Pin | None = None
    why: str = ""
    sources: Callable[[], Sequence[Source]] = tuple
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True)
class OfPage(Provenance):
    """Of a figure that its page alone draws: `figure` is the page, `options` its address."""

    @property
    def command(self) -> str:
        """How to draw it again, in words."""
        query = "&".join(f"{name}={value}" for name, value in self.options.items())
        path = "" if self.figure == HOME else self.figure
        return f"make app  # shows it at /{path}?{query}"


def row(shown: Shown, key: str) -> None:
    """Export and Pin, in one quiet line."""
    with st.container(
        horizontal=True, gap="medium", vertical_alignment="center", key=f"leave_{key}"
    ):
        with st.container(width="content"):
            _export(shown, f"export_{key}")
        _pin(shown, f"pin_{key}")


def ready(shown: Shown, target: Target, dpi: float, query: Mapping[str, str]) -> Export:
    """The figure as it is on the screen, with where it comes from; `query`: the page's address."""
    spec, pin = shown.spec(), shown.pin
    drawn = asdict(target), tuple(shown.sources()), shown.facts, digest(data.arrays(spec))
    about = Provenance(pin.plate, pin.read(), *drawn) if pin else OfPage(shown.page, query, *drawn)
    return Export(spec, say(shown.title), shown.name, target, about, dpi)


@st.fragment
def _export(shown: Shown, key: str) -> None:
    """A fragment: what is chosen here changes nothing else on the page."""
    language.recall()
    popover = st.popover(
        say("Export"),
        type="tertiary",
        icon=":material/download:",
        key=key,
        on_change="rerun",
    )
    if popover.open:
        with popover:
            _choose(shown, key)


def _choose(shown: Shown, key: str) -> None:
    before = export_control.remembered()
    export_control.seed(key, before)
    kind = export_control.format_of(key)
    export_control.venue_of(key)
    export_control.size_of(key)
    choice = export_control.chosen(key, before)
    st.session_state.export_choice = choice
    target = choice.target()
    if wrong := export_control.complaint(kind, target):
        st.error(wrong)
        return
    st.caption(export_control.says(target))
    query, spec = _address(), shown.spec()

    def made() -> bytes:  # once the page is done, and its language forgotten
        with speaking(target.language):
            return export_control.made(ready(shown, target, choice.dpi, query), kind)

    st.download_button(
        say("Download {kind}", kind=kind.upper()),
        made,
        file_name=f"{shown.name}.{export_control.ending(spec, kind)}",
        mime=export_control.mime(spec, kind),
        type="primary",
        on_click="ignore",
        width="stretch",
        key=f"{key}_file",
    )
    if shown.why:
        st.caption(say(shown.why))


def _pin(shown: Shown, key: str) -> None:
    """Pins the figure, or takes it out; the count in the menu follows."""
    there = shown.pin is not None and tray_state.pinned(shown.pin)
    full = not there and not tray_state.room()
    words = say("Puts it into the tray, of which the page Figures makes one figure.")
    if there:
        words = say("Takes it out of the tray again.")
    elif full:
        words = say(
            "The tray holds {most} figures at most: take one out on the page Figures.", most=MOST
        )
    st.button(
        say("Pinned") if there else say("Pin"),
        type="tertiary",
        icon=":material/keep_off:" if there else ":material/keep:",
        key=key,
        on_click=tray_state.toggle,
        args=(shown.pin, shown.page),
        disabled=full or shown.pin is None,
        help=say(shown.why) or words,
    )


def _address() -> dict[str, str]:
    """What an OfPage remembers, without a text of the visitor's own."""
    return {n: v for n, v in address.asked().items() if n != "paste"}
