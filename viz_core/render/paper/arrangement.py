"""How panels stand on paper: blocks under one letter each, in rows that the width allows.

Maps of one encoding on one scale are a block, and so is a whole figure whose titles form a table
("layer 1, head 1", "layer 1, head 2", ...): words that a row or a column shares stand at its end
once, not above each panel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from viz_core.figures.spec import Chart, Heatmap
from viz_core.render.venues import Sheet

Panel = Heatmap | Chart
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
    """Blocks of one kind in rows that share their columns; the last may be shorter."""

    rows: tuple[tuple[Block, ...], ...]


def arrange(panels: Sequence[Panel], sheet: Sheet) -> list[Band]:
    """All panels in their order, from left to right and from top to bottom."""
    table = _table(panels)
    if table is not None:
        return [Band(((table,),))]
    blocks = _blocks(panels)
    if len(blocks) == 1 and panels[0].accent == "ink":  # its caption says what it is
        blocks = [replace(blocks[0], heading="")]
    return [_broken(panels, some, sheet) for some in _neighbours(panels, blocks)]


def _table(panels: Sequence[Panel]) -> Block | None:
    """The figure as one table of panels that can be compared cell by cell; None where it isn't."""
    parts = [p.title.rpartition(", ") for p in panels]
    across = len({last for _, _, last in parts})
    rows = list(dict.fromkeys(first for first, _, _ in parts))
    wanted = [(row, column) for row in rows for _, _, column in parts[:across]]
    if across < 2 or len(rows) < 2 or [(a, c) for a, _, c in parts] != wanted:
        return None
    if len({_comparable(p) for p in panels}) > 1:
        return None
    columns = tuple(last for _, _, last in parts[:across])
    return Block(tuple(range(len(panels))), across, "", columns, tuple(rows))


def _comparable(panel: Panel) -> object:
    """Equal for panels whose places can be compared."""
    if isinstance(panel, Heatmap):
        return panel.scale, panel.rows, panel.columns
    return panel.x, panel.y


def _blocks(panels: Sequence[Panel]) -> list[Block]:
    """Maps in a row that say the same but for their last words, and each other panel alone."""
    blocks: list[Block] = []
    for i, panel in enumerate(panels):
        first, comma, last = panel.title.rpartition(", ")
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


def _neighbours(panels: Sequence[Panel], blocks: Sequence[Block]) -> list[list[Block]]:
    """Neighbours of one kind and size, which may stand side by side; a lone map with a chart."""
    bands: list[list[Block]] = []
    for block in blocks:
        if bands and _kind(panels, block) == _kind(panels, bands[-1][0]):
            bands[-1].append(block)
        else:
            bands.append([block])
    kinds = [type(panels[block.panels[0]]) for block in blocks]
    if kinds == [Heatmap, Chart] and len(panels) == 2:
        return [[*blocks]]
    return bands


def _kind(panels: Sequence[Panel], block: Block) -> tuple[object, ...]:
    one = panels[block.panels[0]]
    return (one.scale, len(block.panels)) if isinstance(one, Heatmap) else ("chart",)


def _broken(panels: Sequence[Panel], some: Sequence[Block], sheet: Sheet) -> Band:
    """The blocks in as few rows as are legible, as evenly filled as they can be."""
    if isinstance(panels[some[0].panels[0]], Chart):
        least = CHART * sheet.text / 7.0
    else:
        least = max(MAP * len(some[0].panels), LONE_MAP)
    fit = max(1, int(sheet.width // least))
    rows = math.ceil(len(some) / min(fit, sheet.across or fit, len(some)))
    across = math.ceil(len(some) / rows)
    folded = [_folded(b, sheet.width / across) for b in some]
    return Band(tuple(tuple(folded[i : i + across]) for i in range(0, len(some), across)))


def _folded(block: Block, width: float) -> Block:
    """A block of many maps in several rows, where one would make them too small."""
    count = len(block.panels)
    rows = math.ceil(count / max(1, int(width // MAP)))
    if rows == 1:
        return block
    return replace(block, across=math.ceil(count / rows))
