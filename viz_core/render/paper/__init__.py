"""Figures on paper: the panels of a FigureSpec with matplotlib, at an exact width.

The same colours, limits, ticks and order as on the screen. Equal figures are equal files, byte for
byte: no dates, no random names.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, is_dataclass

from matplotlib.figure import Figure
from PIL import Image

from viz_core.errors import UnknownName
from viz_core.figures.spec import FigureSpec
from viz_core.render.paper import page, pgf, style, svg
from viz_core.render.venues import Sheet
from viz_core.words import mark

KINDS = ("pdf", "svg", "png", "pgf")
DPI = 300  # of a PNG, unless said otherwise


@dataclass(frozen=True)
class About:
    """What a file says of itself: `provenance` as ASCII JSON in one line."""

    title: str
    caption: str
    program: str
    provenance: str


def draw(
    spec: FigureSpec,
    sheet: Sheet,
    kinds: Collection[str],
    stem: str,
    about: About,
    dpi: float = DPI,
) -> dict[str, bytes]:
    """The files of `spec` in each of `kinds` (KINDS) by name: `stem`.kind, and the images of PGF,
    `stem`-img0.png and so on. `dpi`: of a PNG. Raises UnknownName for another kind."""
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownName(mark("a format"), kind, list(KINDS))
    found: dict[str, bytes] = {}
    words = " ".join(_texts(spec.panels))
    if set(kinds) != {"pgf"}:
        with style.settings(sheet.text, words):
            figure = page.compose(spec, sheet)
            for kind in sorted(set(kinds) - {"pgf"}):
                found[f"{stem}.{kind}"] = _saved(figure, kind, about, dpi)
    if "pgf" in kinds:
        roomy = pgf.roomy(sheet)
        with style.settings(roomy.text, words):
            figure = page.compose(spec, roomy)
            found |= pgf.files(figure, stem, f"{about.program}\nprovenance {about.provenance}")
    return found


def _texts(part: object) -> Iterator[str]:
    """Every text within a part of a spec."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, (list, tuple)):
        for one in part:
            yield from _texts(one)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _texts(getattr(part, field.name))


def _saved(figure: Figure, kind: str, about: About, dpi: float) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format=kind, dpi=dpi, metadata=_metadata(kind, about))
    return svg.with_letters(out.getvalue()) if kind == "svg" else out.getvalue()


def grey(png: bytes) -> bytes:
    """A PNG as a printer without colour would print it (luminance, ITU-R 601), without metadata."""
    out = io.BytesIO()
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        plain = image.convert("RGB").convert("L")
        plain.save(out, "PNG", dpi=image.info.get("dpi", (DPI, DPI)), optimize=True)
    return out.getvalue()


def _metadata(kind: str, about: About) -> dict[str, str | None]:
    """`about` in the names that each format has for it; no dates."""
    if kind == "pdf":
        return {
            "Title": about.title,
            "Subject": about.caption,
            "Keywords": about.provenance,
            "Creator": about.program,
            "CreationDate": None,
        }
    if kind == "svg":
        return {
            "Title": about.title,
            "Description": about.provenance,
            "Creator": about.program,
            "Date": None,
        }
    return {
        "Title": about.title,
        "Description": about.caption,
        "Software": about.program,
        "Provenance": about.provenance,
    }
