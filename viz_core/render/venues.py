"""Where a figure will be printed: widths of columns and sizes of type, by venue.

Widths are those of the venues' own LaTeX classes, so that `\\includegraphics` neither scales a
figure nor overfills its column. Lengths are in points of 1/72 inch; TeX's point is 1/72.27.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from viz_core.errors import UnknownName, UsageError
from viz_core.words import mark, say

INCH = 72.0
CM = INCH / 2.54
TEX = INCH / 72.27
UNITS = {"mm": CM / 10, "cm": CM, "in": INCH, "pt": TEX}
NARROWEST, WIDEST = 1.5 * INCH, 20 * INCH


@dataclass(frozen=True)
class Sheet:
    """What a figure is drawn for: its exact width and its two sizes of type, points.

    `title` is the size of headings, `text` of all else. `across` holds how many charts stand in a
    row, None for as many as are legible.
    """

    width: float
    title: float = 8.0
    text: float = 7.0
    across: int | None = None


@dataclass(frozen=True)
class Venue:
    """A venue's widths, points: of a column (None where there is one alone) and of the full text.

    `title` and `text` are its \\footnotesize and \\scriptsize (AAAI's and ICLR's \\footnotesize is
    9, as is that of 11-point classes), points.
    """

    id: str
    name: str
    column: float | None
    full: float
    title: float = 8.0
    text: float = 7.0

    @property
    def columns(self) -> tuple[int, ...]:
        """What `sheet` takes."""
        return (1,) if self.column is None else (1, 2)

    def sheet(self, columns: int = 1, across: int | None = None) -> Sheet:
        """A figure over `columns` columns. Raises UsageError for 2 of a venue that has 1."""
        if columns not in self.columns:
            raise UsageError(
                say(
                    "Expected 1 column for {venue}, which prints no more; got {columns}.",
                    venue=self.name,
                    columns=columns,
                )
            )
        width = self.full if self.column is None or columns == 2 else self.column
        return Sheet(width, self.title, self.text, across)


VENUES = {
    venue.id: venue
    for venue in (
        Venue("neurips", "NeurIPS", None, 5.5 * INCH),  # neurips_2023.sty
        Venue("iclr", "ICLR", None, 5.5 * INCH, 9.0),  # iclr2024_conference.sty
        Venue("icml", "ICML", 3.25 * INCH, 6.75 * INCH),  # icml2024.sty: columns 0.25 in apart
        Venue("acl", "ACL", 7.7 * CM, 16 * CM, 9.0),  # acl.sty: A4 less 2.5 cm, 0.6 cm apart
        # IEEEtran: 21 and 43 picas of TeX, 0.4 % less than the 3.5 and 7.16 in of IEEE's own pages
        Venue("ieee", "IEEE", 252 * TEX, 516 * TEX),
        Venue("aaai", "AAAI", 3.3125 * INCH, 7 * INCH, 9.0),  # aaai24.sty: 0.375 in apart
        Venue("cvpr", "CVPR", 3.28125 * INCH, 6.875 * INCH),  # cvpr.sty: 0.3125 in apart
        Venue("jmlr", "JMLR", None, 6 * INCH, 9.0, 8.0),  # jmlr2e.sty, in 11 points
        Venue("tmlr", "TMLR", None, 6.5 * INCH),  # tmlr.sty
    )
}


def venue(name: str) -> Venue:
    """The venue called `name`. Raises UnknownName."""
    if name not in VENUES:
        raise UnknownName(mark("a venue"), name, list(VENUES))
    return VENUES[name]


def width(text: str) -> float:
    """A width such as "88mm", "3.5in" or "252pt" (TeX's points), in points of 1/72 inch.

    Raises UsageError for another unit, or a width that no paper has.
    """
    number, unit = text[:-2].strip(), text[-2:]
    try:
        found = float(number) * UNITS[unit]
    except (ValueError, KeyError):
        found = math.nan
    if not NARROWEST <= found <= WIDEST:
        raise UsageError(
            say(
                "Expected a width from {narrowest:g} to {widest:g} inches, such as 88mm, 3.5in or "
                "252pt; got {text!r}.",
                narrowest=NARROWEST / INCH,
                widest=WIDEST / INCH,
                text=text,
            )
        )
    return found
