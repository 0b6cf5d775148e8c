"""What a figure leaves as: the format, and the paper that it is for; by widgets of any place.

The choice is the visitor's, not a figure's: what was chosen for one stands there for the next.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, fields, replace

import streamlit as st

from viz_core.errors import AtlasError
from viz_core.export import LONG_AGO, Export, check
from viz_core.export.target import Target
from viz_core.figures.spec import FigureSpec, Heatmap
from viz_core.render import paper
from viz_core.render.venues import INCH, VENUES
from viz_core.words import language, mark, say

OWN = "own"  # in place of a venue: a width of one's own
FORMATS = {
    "pdf": "PDF",
    "svg": "SVG",
    "png": "PNG",
    "pgf": mark("PGF, drawn by LaTeX"),
    "html": mark("Page, every number on hover"),
    "csv": mark("CSV of the numbers"),
    "npz": mark("NPZ of the numbers"),
    "tex": mark("LaTeX that includes the PDF"),
    "zip": mark("ZIP of all these"),
}
TYPES = {
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
    "pgf": "text/plain",
    "html": "text/html",
    "csv": "text/csv",
    "npz": "application/octet-stream",
    "tex": "text/plain",
    "zip": "application/zip",
}
DOTTED = ("png", "zip")  # formats with a picture of dots
DOTS = (150, 300, 600)  # per inch, of a PNG
UNITS = {"mm": "mm", "in": mark("inches"), "pt": mark("TeX's pt")}


@dataclass(frozen=True)
class Choice:
    """What the widgets say."""

    kind: str = "pdf"
    venue: str = "neurips"
    columns: int = 1
    width: float = 88.0
    unit: str = "mm"
    dpi: int = int(paper.DPI)

    def target(self, across: int | None = None) -> Target:
        """What a figure is drawn for, in the language spoken here."""
        spoken = language()
        if self.venue == OWN:
            return Target(width=f"{self.width:g}{self.unit}", across=across, language=spoken)
        two = len(VENUES[self.venue].columns) > 1
        columns = self.columns if two else None
        return Target(self.venue, columns, across=across, language=spoken)


def of(target: Target, before: Choice) -> Choice:
    """The choice that makes `target`; what that doesn't say stays as it was `before`."""
    if target.width is None:
        return replace(before, venue=target.venue, columns=target.columns or 1)
    number, unit = float(target.width[:-2]), target.width[-2:]
    if unit == "cm":
        number, unit = 10 * number, "mm"
    return replace(before, venue=OWN, width=number, unit=unit)


def remembered() -> Choice:
    """The last choice of this visitor."""
    found: Choice = st.session_state.get("export_choice", Choice())
    return found


def seed(key: str, choice: Choice) -> None:
    """Puts `choice` into the widgets called `key` that are to come, before any of them is drawn."""
    opened = f"{key}_kind" not in st.session_state
    for field in fields(Choice):
        name = f"{key}_{field.name}"
        if opened or name not in st.session_state:
            st.session_state[name] = getattr(choice, field.name)


def format_of(key: str) -> str:
    """The widgets for the format, and for the dots of a picture that has them."""
    kind = st.selectbox(
        say("Format"), list(FORMATS), format_func=lambda k: say(FORMATS[k]), key=f"{key}_kind"
    )
    if kind in DOTTED:
        st.segmented_control(
            say("Dots per inch"),
            DOTS,
            required=True,
            key=f"{key}_dpi",
            help=say("Of the PNG: the other formats have none, but for the cells of maps."),
        )
    return kind


def venue_of(key: str) -> None:
    """The widget for a venue, or a width of one's own."""
    st.selectbox(
        say("For"),
        [*VENUES, OWN],
        format_func=lambda v: say("Your own width") if v == OWN else VENUES[v].name,
        key=f"{key}_venue",
        help=say("Exact widths and sizes of type, as each venue's own LaTeX class has them."),
    )


def size_of(key: str) -> None:
    """The widgets for the venue's columns, where it has two, or for the width."""
    venue = st.session_state[f"{key}_venue"]
    if venue == OWN:
        a, b = st.columns([1.2, 1], gap="small")
        a.number_input(say("Width"), format="%.6g", key=f"{key}_width")
        b.selectbox(
            say("Unit"), list(UNITS), format_func=lambda u: say(UNITS[u]), key=f"{key}_unit"
        )
    elif len(VENUES[venue].columns) > 1:
        st.segmented_control(say("Columns"), (1, 2), required=True, key=f"{key}_columns")


def chosen(key: str, before: Choice) -> Choice:
    """What the widgets called `key` say; what isn't drawn stays as it was `before`."""
    names = [field.name for field in fields(Choice)]
    said = {n: st.session_state[f"{key}_{n}"] for n in names if f"{key}_{n}" in st.session_state}
    return replace(before, **said)


def says(target: Target) -> str:
    """How wide a figure for `target` is and how large its type. Raises as `Target.sheet`."""
    sheet = target.sheet()
    inches = sheet.width / INCH
    if sheet.text == sheet.title:
        return say(
            "{inches:.2f} in ({mm:.0f} mm) wide, type of {size:g} points.",
            inches=inches,
            mm=25.4 * inches,
            size=sheet.text,
        )
    return say(
        "{inches:.2f} in ({mm:.0f} mm) wide, type of {text:g} and {title:g} points.",
        inches=inches,
        mm=25.4 * inches,
        text=sheet.text,
        title=sheet.title,
    )


def complaint(kind: str, target: Target) -> str:
    """A sentence where there is no such paper, or no letters for it; "" where there is."""
    try:
        check(kind, target)
    except AtlasError as error:
        return str(error)
    return ""


def ending(spec: FigureSpec, kind: str) -> str:
    """The ending of the one file that is downloaded: a PGF with maps has images beside it."""
    several = kind == "pgf" and any(isinstance(p, Heatmap) for p in spec.panels)
    return "pgf.zip" if several else kind


def mime(spec: FigureSpec, kind: str) -> str:
    """The type of that file."""
    return TYPES["zip" if ending(spec, kind).endswith("zip") else kind]


def made(one: Export, kind: str) -> bytes:
    """The one file: what `Export.files` makes, packed where it is several."""
    files = one.files(kind)
    if len(files) == 1:
        return next(iter(files.values()))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in files.items():
            bundle.writestr(zipfile.ZipInfo(name, LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
