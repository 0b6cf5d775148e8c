"""What a figure is drawn for, in words: a venue and its columns, or a width; and a language."""

from __future__ import annotations

from dataclasses import dataclass

from viz_core import words
from viz_core.errors import UnknownName, UsageError
from viz_core.render import venues
from viz_core.render.venues import Sheet
from viz_core.words import mark, say


@dataclass(frozen=True)
class Target:
    """A venue's column, or both of its columns, or a `width` such as "88mm" in its type.

    `across`: how many charts stand in a row at most. `language`: of its words, a key of
    `words.LANGUAGES`. Raises UnknownName and UsageError, once the sheet is asked for, where there
    is no such venue, column, width or language.
    """

    venue: str = "neurips"
    columns: int | None = None
    width: str | None = None
    across: int | None = None
    language: str = words.PLAIN

    def sheet(self) -> Sheet:
        """The exact width and the sizes of type."""
        if self.language not in words.LANGUAGES:
            raise UnknownName(mark("a language"), self.language, list(words.LANGUAGES))
        sheet = venues.venue(self.venue).sheet(self.columns or 1, self.across)
        if self.width is None:
            return sheet
        if self.columns is not None:
            raise UsageError(say("Expected the columns of a venue or a width, not both."))
        return Sheet(venues.width(self.width), sheet.title, sheet.text, sheet.across)

    @property
    def both(self) -> bool:
        """Whether it spans both columns."""
        return self.columns == 2
