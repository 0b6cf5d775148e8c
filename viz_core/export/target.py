"""What a figure is drawn for, in words: a venue and its columns, or a width."""

from __future__ import annotations

from dataclasses import dataclass

from viz_core.errors import UsageError
from viz_core.render import venues
from viz_core.render.venues import Sheet


@dataclass(frozen=True)
class Target:
    """A venue's column, or both of its columns, or a `width` such as "88mm" in its type.

    `across`: how many charts stand in a row at most. Raises UnknownName and UsageError, once the
    sheet is asked for, where there is no such venue, column or width.
    """

    venue: str = "neurips"
    columns: int | None = None
    width: str | None = None
    across: int | None = None

    def sheet(self) -> Sheet:
        """The exact width and the sizes of type."""
        sheet = venues.venue(self.venue).sheet(self.columns or 1, self.across)
        if self.width is None:
            return sheet
        if self.columns is not None:
            raise UsageError("Expected the columns of a venue or a width, not both.")
        return Sheet(venues.width(self.width), sheet.title, sheet.text, sheet.across)

    @property
    def both(self) -> bool:
        """Whether it spans both columns."""
        return self.columns == 2
