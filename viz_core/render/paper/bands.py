"""A band on paper: rows of blocks that share columns, and the colour bar of its maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from viz_core.figures.spec import Chart, Heatmap
from viz_core.render.paper import bar, cells
from viz_core.render.paper.arrangement import Band, Block, Panel
from viz_core.render.paper.bar import Bar
from viz_core.render.paper.cells import Cells, Room
from viz_core.render.venues import Sheet

ACROSS, DOWN = 9.0, 7.0  # between blocks, points
LARGEST_MAP = 170.0
# Maps of a table have their bar below where beside it, and their words, they would be smaller.
SMALLEST_MAP, AROUND = 24.0, 120.0
SHAPE, LOWEST, HIGHEST = 0.62, 58.0, 140.0  # a chart's height: of its width, least and most
FLAT, LEAST_FLAT = 0.5, 30.0  # that of a chart in a table


@dataclass
class Strip:
    """A band being drawn, with what was solved for it last: the size of its maps and charts."""

    rows: list[list[Cells]]
    sheet: Sheet
    bar: Bar | None
    side: float = 60.0  # points across
    high: float = 60.0
    indent: float = 0.0  # of a band that is narrower than the page
    rooms: list[list[Room]] = field(default_factory=list)

    def solve(self, width: float) -> float:
        """Sizes that fill `width` points, from what ticks and words take; the height they need."""
        for one in self._every():
            one.fit(self.side, self.high)
        self.rooms = [[one.room(self.side, self.high) for one in row] for row in self.rows]
        columns, across = self._columns(), [one.block.across for one in self.rows[0]]
        taken = sum(c.left + c.right for c in columns) + ACROSS * (len(columns) - 1)
        taken += sum(c.across * (n - 1) for c, n in zip(columns, across, strict=True))
        side = (width - taken) / sum(across)
        self.side = min(side, LARGEST_MAP) if self.bar else side
        self.indent = (side - self.side) * sum(across) / 2
        self.high = self._height(self.rows[0][0])
        below = self.bar.below if self.bar else 0.0
        return sum(self._heights()) + DOWN * (len(self.rows) - 1) + below

    def place(self, left: float, top: float) -> None:
        """Sets the band with its upper left corner there, points from the page's lower left."""
        columns = self._columns()
        maps: list[Bbox] = []
        for row, rooms, height in zip(self.rows, self.rooms, self._heights(), strict=True):
            start = top - max(r.top for r in rooms)
            x = left + self.indent
            for one, room, column in zip(row, rooms, columns, strict=False):
                begin, x = x, x + column.left
                wide, tall = one.wide(self.side, column), one.tall(self.high, room)
                one.place(begin, x, start - tall, self.side, self.high, room)
                if isinstance(one.panels[0], Heatmap):
                    words = 0.0 if self.bar and self.bar.flat else room.right
                    maps.append(Bbox.from_extents(x, start - tall, x + wide + words, start))
                x += wide + column.right + ACROSS
            top -= height + DOWN
        if self.bar is not None:
            whole = Bbox.union(maps)
            bottom = top + DOWN if self.bar.flat else whole.y0  # below their ticks and labels too
            self.bar.place(whole.x0, bottom, whole.width, whole.y1 - bottom)

    def finish(self) -> None:
        """Words inside charts, once nothing moves any more."""
        for one in self._every():
            one.finish(self.side, self.high)

    def _every(self) -> Iterator[Cells]:
        return (one for row in self.rows for one in row)

    def _last_map(self) -> int:
        """The last column of maps, beside which the bar stands; -1 without any."""
        return sum(isinstance(one.panels[0], Heatmap) for one in self.rows[0]) - 1

    def _columns(self) -> list[Room]:
        """What each column of blocks needs, so that all its rows are in line."""
        found = []
        for j in range(len(self.rows[0])):
            rooms = [row[j] for row in self.rooms if j < len(row)]
            bar = self.bar.beside if self.bar and j == self._last_map() else 0.0
            found.append(
                Room(
                    max(r.left for r in rooms),
                    max(r.right for r in rooms) + bar,
                    max(r.top for r in rooms),
                    max(r.bottom for r in rooms),
                    max(r.across for r in rooms),
                    max(r.down for r in rooms),
                )
            )
        return found

    def _heights(self) -> list[float]:
        """The height of each row of blocks, with the words above and below."""
        return [
            max(r.top for r in rooms)
            + max(one.tall(self.high, r) for one, r in zip(row, rooms, strict=True))
            + max(r.bottom for r in rooms)
            for row, rooms in zip(self.rows, self.rooms, strict=True)
        ]

    def _height(self, first: Cells) -> float:
        """The height of a map or chart that is `side` wide."""
        one = first.panels[0]
        if isinstance(one, Heatmap):
            return self.side * (one.rows[1] - one.rows[0]) / (one.columns[1] - one.columns[0])
        if first.block.rows:
            return max(LEAST_FLAT, FLAT * self.side)
        return min(max(LOWEST, SHAPE * self.side), HIGHEST)


def draw(
    figure: Figure,
    band: Band,
    panels: Sequence[Panel],
    sheet: Sheet,
    letters: Iterator[str],
    named: bool,
) -> Strip:
    """The axes of `band` on `figure`, not yet in their places."""
    rows: list[list[Cells]] = []
    for r, row in enumerate(band.rows):
        rows.append([])
        for c, block in enumerate(row):
            shared = (
                _alike(panels, block, _at(band, r + 1, c), lambda chart: chart.x),
                # in a column where one needs its labels, there is room for those of all
                all(
                    _alike(panels, one, _at(band, i, c - 1), lambda chart: chart.y)
                    for i, other in enumerate(band.rows)
                    for one in other[c : c + 1]
                ),
            )
            some = [panels[i] for i in block.panels]
            rows[-1].append(cells.draw(figure, block, some, sheet, next(letters), shared, named))
    block = band.rows[0][0]
    one = panels[block.panels[0]]
    if not isinstance(one, Heatmap):
        return Strip(rows, sheet, None)
    small = bool(block.rows) and sheet.width < block.across * SMALLEST_MAP + AROUND
    return Strip(rows, sheet, bar.draw(figure, one.scale, small, sheet.text))


def _at(band: Band, row: int, column: int) -> Block | None:
    known = 0 <= row < len(band.rows) and 0 <= column < len(band.rows[row])
    return band.rows[row][column] if known else None


def _alike(
    panels: Sequence[Panel], one: Block, other: Block | None, axis: Callable[[Chart], object]
) -> bool:
    """Whether both are charts with the same axis, which then needs its labels once."""
    a, b = panels[one.panels[0]], panels[other.panels[0]] if other else None
    return isinstance(a, Chart) and isinstance(b, Chart) and axis(a) == axis(b)
