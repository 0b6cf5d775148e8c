"""A band on paper: rows of blocks that share columns, and the colour bars of its maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from viz_core.figures.spec import Chart, Heatmap, Scale
from viz_core.render.paper import bar, cells
from viz_core.render.paper.arrangement import Band, Block, Panel
from viz_core.render.paper.bar import Bar
from viz_core.render.paper.cells import Cells, Room
from viz_core.render.venues import Sheet

ACROSS, DOWN = 9.0, 7.0  # between blocks, points
LARGEST_MAP, LARGEST_BESIDE = 170.0, 118.0  # maps alone, and beside charts, which take the rest
# Maps of a table have their bar below where beside it, and their words, they would be smaller.
SMALLEST_MAP, AROUND = 24.0, 120.0
SHAPE, LOWEST, HIGHEST = 0.62, 58.0, 140.0  # a chart's height: of its width, least and most
FLAT, LEAST_FLAT = 0.5, 30.0  # that of a chart in a table


@dataclass(frozen=True)
class Shared:
    """A bar, and the rows and columns of blocks whose maps are on its scale."""

    bar: Bar
    rows: range
    columns: range


@dataclass
class Strip:
    """A band being drawn, with what was solved for it last: the sizes of its maps and charts."""

    rows: list[list[Cells]]
    sheet: Sheet
    bars: list[Shared]
    sides: list[float] = field(default_factory=list)  # points across, by column
    highs: list[float] = field(default_factory=list)  # by row
    indent: float = 0.0  # of a band that is narrower than the page
    rooms: list[list[Room]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sides, self.highs = [60.0] * len(self.rows[0]), [60.0] * len(self.rows)

    def solve(self, width: float) -> float:
        """Sizes that fill `width` points, from what ticks and words take; the height they need."""
        beside = [self._beside(column) for column in range(len(self.sides))]
        self.rooms = []
        for row, high in zip(self.rows, self.highs, strict=True):
            for one, side in zip(row, self.sides, strict=False):
                one.fit(side, high)
            sizes = zip(row, self.sides, beside, strict=False)
            self.rooms.append([one.room(side, high, bar) for one, side, bar in sizes])
        columns, across = self._columns(), [one.block.across for one in self.rows[0]]
        taken = sum(c.left + c.right for c in columns) + ACROSS * (len(columns) - 1)
        taken += sum(c.across * (n - 1) for c, n in zip(columns, across, strict=True))
        self.sides = self._widths(width - taken, across)
        filled = sum(n * side for n, side in zip(across, self.sides, strict=True))
        self.indent = (width - taken - filled) / 2
        self.highs = [self._high(row) for row in self.rows]
        below = max((one.bar.below for one in self.bars), default=0.0)
        return sum(self._heights()) + DOWN * (len(self.rows) - 1) + below

    def place(self, left: float, top: float) -> None:
        """Sets the band with its upper left corner there, points from the page's lower left."""
        columns = self._columns()
        maps: dict[tuple[int, int], Bbox] = {}
        bottoms = []
        for r, (row, rooms, height) in enumerate(
            zip(self.rows, self.rooms, self._heights(), strict=True)
        ):
            start, high = top - max(room.top for room in rooms), self.highs[r]
            x = left + self.indent
            for c, (one, room, column) in enumerate(zip(row, rooms, columns, strict=False)):
                begin, x, side = x, x + column.left, self.sides[c]
                wide, tall = one.wide(side, column), one.tall(high, room)
                one.place(begin, x, start - tall, side, high, room)
                maps[r, c] = Bbox.from_extents(x, start - tall, x + wide, start)
                x += wide + column.right + ACROSS
            top -= height + DOWN
            bottoms.append(top + DOWN)
        for shared in self.bars:
            flat = shared.bar.flat
            every = [(r, c) for r in shared.rows for c in shared.columns if (r, c) in maps]
            whole = Bbox.union([maps[place] for place in every])
            words = 0.0 if flat else max(self.rooms[r][c].right for r, c in every)
            bottom = bottoms[-1] if flat else whole.y0  # below their ticks and labels too
            size = whole.width + words, whole.y1 - bottom
            shared.bar.place(whole.x0, bottom, *size)

    def finish(self) -> None:
        """Words inside charts, once nothing moves any more."""
        for row, high in zip(self.rows, self.highs, strict=True):
            for one, side in zip(row, self.sides, strict=False):
                one.finish(side, high)

    def _widths(self, room: float, across: Sequence[int]) -> list[float]:
        """The width of a map or chart in each column, of `room` points for all. Maps stop growing
        where charts beside them can have what is left."""
        even = room / sum(across)
        map_columns = [isinstance(one.panels[0], Heatmap) for one in self.rows[0]]
        others = sum(n for n, is_map in zip(across, map_columns, strict=True) if not is_map)
        most = min(even, LARGEST_BESIDE if others else LARGEST_MAP)
        maps = sum(n for n, is_map in zip(across, map_columns, strict=True) if is_map)
        rest = (room - maps * most) / others if others else 0.0
        return [most if is_map else rest for is_map in map_columns]

    def _beside(self, column: int) -> float:
        """Points that bars take on the right of a column."""
        found = (one.bar.beside for one in self.bars if one.columns.stop - 1 == column)
        return max(found, default=0.0)

    def _columns(self) -> list[Room]:
        """What each column of blocks needs, so that all its rows are in line."""
        found = []
        for j in range(len(self.rows[0])):
            rooms = [row[j] for row in self.rooms if j < len(row)]
            found.append(
                Room(
                    max(r.left for r in rooms),
                    max(r.right for r in rooms) + self._beside(j),
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
            + max(one.tall(high, r) for one, r in zip(row, rooms, strict=True))
            + max(r.bottom for r in rooms)
            for row, rooms, high in zip(self.rows, self.rooms, self.highs, strict=True)
        ]

    def _high(self, row: Sequence[Cells]) -> float:
        """The height of the maps and charts of a row: that of its first map, if it has one."""
        for one, side in zip(row, self.sides, strict=False):
            panel = one.panels[0]
            if isinstance(panel, Heatmap):
                (top, bottom), (left, right) = panel.rows, panel.columns
                return side * (bottom - top) / (right - left)
        if row[0].block.rows:
            return max(LEAST_FLAT, FLAT * self.sides[0])
        return min(max(LOWEST, SHAPE * self.sides[0]), HIGHEST)


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
    small = bool(block.rows) and sheet.width < block.across * SMALLEST_MAP + AROUND
    bars = [
        Shared(bar.draw(figure, scale, small, sheet.text), down, across)
        for scale, down, across in _alike_maps(band, panels)
    ]
    return Strip(rows, sheet, bars)


def _alike_maps(band: Band, panels: Sequence[Panel]) -> list[tuple[Scale, range, range]]:
    """Each scale with the rows and columns of the blocks that one bar serves: all of a band whose
    rows begin with maps on one scale, else neighbours in a row, and rows alike."""
    scales = [[_scale(panels, block) for block in row] for row in band.rows]
    runs = [_runs(row) for row in scales]
    first = [row[0] for row in runs if row]
    alike = len({scale for scale, _ in first}) == 1 and all(not c.start for _, c in first)
    if alike and len(first) == len(runs) == sum(map(len, runs)):
        widest = max((columns for _, columns in first), key=len)
        return [(first[0][0], range(len(runs)), widest)]
    found: list[tuple[Scale, range, range]] = []
    for r, row in enumerate(runs):
        for scale, columns in row:
            above = (scale, columns)
            for i, (known, down, across) in enumerate(found):
                if (known, across) == above and down.stop == r:
                    found[i] = known, range(down.start, r + 1), across
                    break
            else:
                found.append((scale, range(r, r + 1), columns))
    return found


def _runs(row: Sequence[Scale | None]) -> list[tuple[Scale, range]]:
    """Neighbours of one scale in a row, by their columns."""
    found, start = [], 0
    for scale, some in groupby(row):
        count = len(list(some))
        if scale is not None:
            found.append((scale, range(start, start + count)))
        start += count
    return found


def _scale(panels: Sequence[Panel], block: Block) -> Scale | None:
    one = panels[block.panels[0]]
    return one.scale if isinstance(one, Heatmap) else None


def _at(band: Band, row: int, column: int) -> Block | None:
    known = 0 <= row < len(band.rows) and 0 <= column < len(band.rows[row])
    return band.rows[row][column] if known else None


def _alike(
    panels: Sequence[Panel], one: Block, other: Block | None, axis: Callable[[Chart], object]
) -> bool:
    """Whether both are charts with the same axis, which then needs its labels once."""
    a, b = panels[one.panels[0]], panels[other.panels[0]] if other else None
    return isinstance(a, Chart) and isinstance(b, Chart) and axis(a) == axis(b)
