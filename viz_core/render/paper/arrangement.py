"""How panels stand on paper: blocks under one letter each, in rows that the width allows.

Maps of one encoding on one scale are a block, and so is a whole figure whose titles form a table
("layer 1, head 1", "layer 1, head 2", ...): words that a row or a column shares stand at its end
once, not above each panel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice, product
from string import ascii_lowercase

from viz_core.figures.spec import Chart, Heatmap
from viz_core.render.venues import Sheet

Panel = Heatmap | Chart
COMMAS = ", ", "，"
CHART, MAP, LONE_MAP = 105.0, 42.0, 92.0  # least widths with their labels, points


@dataclass(frozen=True)
class Block:
    """Panels in rows of `across`, under one heading.

    `columns` are the words above each column, `rows` those beside each row; both may be empty.
    """

    panels: tuple[int, ...]
    across: int
    heading: str
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()

    @property
    def down(self) -> int:
        """Rows of panels."""
        return math.ceil(len(self.panels) / self.across)


@dataclass(frozen=True)
class Band:
    """Blocks in rows that share their columns, each column of one kind; the last row may be
    shorter."""

    rows: tuple[tuple[Block, ...], ...]


def arrange(panels: Sequence[Panel], sheet: Sheet, parts: Sequence[int] = ()) -> list[Band]:
    """All panels in their order, from left to right and from top to bottom.

    `parts`: how many panels each figure has, where this one is composed of several.
    """
    blocks = blocks_of(panels, parts)
    if len(blocks) == 1 and panels[0].accent == "ink":  # its caption says what it is
        blocks = [replace(blocks[0], heading="")]
    found: list[Band] = []
    for run in _neighbours(panels, blocks, sheet, len(parts) > 1):
        found += _broken(panels, run, sheet)
    return found


def blocks_of(panels: Sequence[Panel], parts: Sequence[int] = ()) -> list[Block]:
    """What stands under a letter each, in order; `parts` as above: no block has panels of two."""
    found, start = list[Block](), 0
    for count in parts or (len(panels),):
        some = panels[start : start + count]
        table = _table(some)
        blocks = [table] if table is not None else _blocks(some)
        found += [replace(b, panels=tuple(start + i for i in b.panels)) for b in blocks]
        start += count
    return found


def letters(blocks: int) -> list[str]:
    """a, b, ... z, aa, ab, ... for so many blocks; no letter for a block alone."""
    if blocks == 1:
        return [""]
    pairs = ("".join(two) for two in product(ascii_lowercase, repeat=2))
    return list(islice(chain(ascii_lowercase, pairs), blocks))


def _table(panels: Sequence[Panel]) -> Block | None:
    """The figure as one table of panels that can be compared cell by cell; None where it isn't."""
    parts = [_parted(p.title) for p in panels]
    across = len({last for _, _, last in parts})
    rows = list(dict.fromkeys(first for first, _, _ in parts))
    wanted = [(row, column) for row in rows for _, _, column in parts[:across]]
    if across < 2 or len(rows) < 2 or [(a, c) for a, _, c in parts] != wanted:
        return None
    if len({_comparable(p) for p in panels}) > 1:
        return None
    columns = tuple(last for _, _, last in parts[:across])
    return Block(tuple(range(len(panels))), across, "", columns, tuple(rows))


def _parted(title: str) -> tuple[str, str, str]:
    """A title before its last comma, the comma of its language, and what comes after."""
    return max((title.rpartition(comma) for comma in COMMAS), key=lambda parts: len(parts[0]))


def _comparable(panel: Panel) -> object:
    """Equal for panels whose places can be compared."""
    if isinstance(panel, Heatmap):
        return panel.scale, panel.rows, panel.columns
    return panel.x, panel.y


def _blocks(panels: Sequence[Panel]) -> list[Block]:
    """Maps in a row that say the same but for their last words, and each other panel alone."""
    blocks: list[Block] = []
    for i, panel in enumerate(panels):
        first, comma, last = _parted(panel.title)
        before = blocks[-1] if blocks else None
        if before is not None and comma and before.columns and before.heading == first:
            one = panels[before.panels[0]]
            if isinstance(panel, Heatmap) and _comparable(panel) == _comparable(one):
                blocks[-1] = replace(
                    before,
                    panels=(*before.panels, i),
                    across=before.across + 1,
                    columns=(*before.columns, last),
                )
                continue
        if isinstance(panel, Heatmap) and comma:
            blocks.append(Block((i,), 1, first, (last,)))
        else:
            blocks.append(Block((i,), 1, panel.title))
    return [
        b if len(b.panels) > 1 else replace(b, heading=panels[b.panels[0]].title, columns=())
        for b in blocks
    ]


def _neighbours(
    panels: Sequence[Panel], blocks: Sequence[Block], sheet: Sheet, composed: bool
) -> list[list[Block]]:
    """Neighbours of one kind and size, which may stand side by side; a lone map with a chart.

    In a composed figure panels that stand alone do too, whatever their kinds, where a row's
    length is chosen, or else where some would have a row for themselves.
    """
    runs = [[*some] for _, some in groupby(blocks, lambda block: _kind(panels, block))]
    kinds = [type(panels[block.panels[0]]) for block in blocks]
    if kinds == [Heatmap, Chart] and len(panels) == 2:
        return [[*blocks]]
    if not composed:
        return runs
    found: list[list[Block]] = []
    for single, some in groupby(runs, lambda run: all(len(b.panels) == 1 for b in run)):
        alike = [*some]
        if single and (sheet.across or any(len(run) == 1 for run in alike)):
            alike = [[block for run in alike for block in run]]
        found += alike
    return found


def _kind(panels: Sequence[Panel], block: Block) -> tuple[object, ...]:
    one = panels[block.panels[0]]
    if block.rows:
        return ("table", block)
    return (one.scale, len(block.panels)) if isinstance(one, Heatmap) else ("chart",)


def _broken(panels: Sequence[Panel], some: Sequence[Block], sheet: Sheet) -> list[Band]:
    """The blocks in as few rows as are legible, as evenly filled as they can be, as bands of rows
    with the same kinds of panels."""
    if some[0].rows:
        return [Band((tuple(some),))]
    chart = any(isinstance(panels[block.panels[0]], Chart) for block in some)
    least = max(CHART * sheet.text / 7.0 * chart, MAP * len(some[0].panels))
    least = max(least, LONE_MAP)
    fit = max(1, int(sheet.width // least))
    rows = math.ceil(len(some) / min(fit, sheet.across or fit, len(some)))
    across = math.ceil(len(some) / rows)
    folded = [_folded(b, sheet.width / across) for b in some]
    every = [tuple(folded[i : i + across]) for i in range(0, len(some), across)]
    bands = list[Band]()
    for row in every:
        wanted = [type(panels[block.panels[0]]) for block in row]
        above = bands[-1].rows[0] if bands else ()
        if bands and wanted == [type(panels[b.panels[0]]) for b in above[: len(row)]]:
            bands[-1] = Band((*bands[-1].rows, row))
        else:
            bands.append(Band((row,)))
    return bands


def _folded(block: Block, width: float) -> Block:
    """A block of many maps in several rows, where one would make them too small."""
    count = len(block.panels)
    rows = math.ceil(count / max(1, int(width // MAP)))
    if rows == 1:
        return block
    return replace(block, across=math.ceil(count / rows))
