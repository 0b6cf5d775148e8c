"""A block on paper: its axes, the words around them, and how much room those take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

from viz_core.figures.spec import Chart, Heatmap
from viz_core.render import palette
from viz_core.render.paper import charts, maps, style, words
from viz_core.render.paper.arrangement import Block, Panel
from viz_core.render.venues import INCH, Sheet

BETWEEN = 5.0  # panels of a block, points
OVER, BESIDE, UNDER = 2.5, 3.0, 1.5  # between axes or their ticks and words above, beside, below
LEADING = 1.15  # from one line of type to the next, of its size


@dataclass(frozen=True)
class Room:
    """Points around a block's axes, and between its columns and rows."""

    left: float
    right: float
    top: float
    bottom: float
    across: float
    down: float


@dataclass
class Cells:
    """A block being drawn. `named`: its curves have their names at their ends."""

    block: Block
    panels: Sequence[Panel]
    sheet: Sheet
    axes: list[Axes]
    above: list[Text]
    beside: list[Text]
    letter: Text
    heading: Text
    x_label: Text
    y_label: Text
    named: bool
    moving: list[Artist] = field(default_factory=list)
    ticks: Room = field(default_factory=lambda: Room(0, 0, 0, 0, 0, 0))

    def fit(self, width: float, height: float) -> None:
        """Ticks and the curves' names for axes of `width` x `height` points."""
        for artist in self.moving:
            artist.remove()
        self.moving = []
        for ax, panel in zip(self.axes, self.panels, strict=True):
            if isinstance(panel, Heatmap):
                maps.fit(ax, panel, width, height, self.sheet.text)
            else:
                charts.fit(ax, panel, width, height, self.sheet.text)
                if self.named:
                    self.moving += words.ends(ax, panel, width, height, self.sheet.text)

    def wide(self, side: float, room: Room) -> float:
        """The width of all axes, each `side` points wide."""
        return self.block.across * side + (self.block.across - 1) * room.across

    def tall(self, high: float, room: Room) -> float:
        """The height of all axes, each `high` points high."""
        return self.block.down * high + (self.block.down - 1) * room.down

    def room(self, side: float, high: float, spare: float = 0.0) -> Room:
        """Measured on what is drawn now, with axes of `side` x `high` points; the heading may
        reach over `spare` more on the right, which a colour bar takes."""
        around = [margins(ax) for ax in self.axes]
        across, rows = self.block.across, range(self.block.down)
        columns = [around[column::across] for column in range(across)]
        lines = [around[row * across : (row + 1) * across] for row in rows]
        beside = [max(m[1] for m in a) + max(m[0] for m in b) for a, b in pairwise(columns)]
        under = [max(m[3] for m in a) + max(m[2] for m in b) for a, b in pairwise(lines)]
        self.ticks = Room(
            max(m[0] for m in columns[0]),
            max(m[1] for m in columns[-1]),
            max(m[2] for m in lines[0]),
            max(m[3] for m in lines[-1]),
            max(beside, default=0.0) + BETWEEN,
            max(under, default=0.0) + BETWEEN,
        )
        apart = BETWEEN - BESIDE
        _shortened(self.above, self.block.columns, self.sheet.text, side + apart)
        _shortened(self.beside, self.block.rows, self.sheet.text, high + apart)
        line = LEADING * self.sheet.text
        t = self.ticks = self._with_captions(line)
        width, height = self.wide(side, t), self.tall(high, t)
        down = _broken(self.y_label, self.sheet.text, height + BESIDE)
        left = t.left + (down * line + UNDER) * (down > 0)
        right = t.right + (BESIDE + line) * bool(self.beside)
        over = _broken(self.x_label, self.sheet.text, width + 2 * min(left, right) + 1)
        room = width + left + right + spare - self._indent
        head = _broken(self.heading, self.sheet.title, room)
        return Room(
            left,
            right,
            t.top + (head * LEADING * self.sheet.title + OVER) * (head > 0),
            t.bottom + (over * line + UNDER) * (over > 0),
            t.across,
            t.down,
        )

    def place(
        self, start: float, left: float, bottom: float, side: float, high: float, room: Room
    ) -> None:
        """All axes and words in their places, points from the lower left corner of the page; the
        heading at `start`, the axes at `left` and `bottom`."""
        width, height = self.wide(side, room), self.tall(high, room)
        for i, ax in enumerate(self.axes):
            row, column = divmod(i, self.block.across)
            x = left + column * (side + room.across)
            y = bottom + (self.block.down - 1 - row) * (high + room.down)
            set_place(ax, x, y, side, high)
        top = bottom + height + room.top
        self.letter.set_position((start, top))
        self.heading.set_position((start + self._indent, top))
        for i, text in enumerate(self.above):
            row, column = divmod(i, self.block.across)
            y = bottom + height - row * (high + room.down) + OVER
            text.set_position((left + column * (side + room.across) + side / 2, y))
        for row, text in enumerate(self.beside):
            y = bottom + height - row * (high + room.down) - high / 2
            text.set_position((left + width + room.right - LEADING * self.sheet.text, y))
        self.x_label.set_position((left + width / 2, bottom - self.ticks.bottom - UNDER))
        self.y_label.set_position((left - self.ticks.left - UNDER, bottom + height / 2))

    def finish(self, width: float, height: float) -> None:
        """Words inside charts, once nothing moves any more."""
        for ax, panel in zip(self.axes, self.panels, strict=True):
            if isinstance(panel, Chart):
                words.inside(ax, panel, width, height, self.sheet.text, self.named)

    def _with_captions(self, line: float) -> Room:
        """The room that was measured for ticks, with that of words above panels."""
        t, each = self.ticks, bool(self.above) * (OVER + line)
        under = each * (len(self.above) > self.block.across)
        return replace(t, top=t.top + each, down=t.down + under)

    @property
    def _indent(self) -> float:
        """Where the heading starts, points right of its letter."""
        letter = self.letter.get_text()
        return style.width(letter, self.sheet.title, True) + BESIDE if letter else 0.0


def draw(
    figure: Figure,
    block: Block,
    panels: Sequence[Panel],
    sheet: Sheet,
    letter: str,
    shared: tuple[bool, bool] = (False, False),
    named: bool = True,
) -> Cells:
    """The axes of `block` on `figure`, not yet in their places.

    `shared` says whether the block below has its x axis, and the one on its left its y axis.
    """
    axes = []
    for i, panel in enumerate(panels):
        ax = figure.add_axes((0.1, 0.1, 0.3, 0.3), label=str(block.panels[i]))
        axes.append(ax)
        if isinstance(panel, Heatmap):
            maps.draw(ax, panel)
        else:
            charts.draw(ax, panel)
        lowest = i + block.across >= len(panels)
        under, left = lowest and not shared[0], i % block.across == 0 and not shared[1]
        ax.tick_params(labelbottom=under, labelleft=left)
        if isinstance(panel, Heatmap):
            ax.tick_params(bottom=under, left=left)
    one = panels[0]
    across, down = maps.words(one) if isinstance(one, Heatmap) else (one.x.label, one.y.label)
    points = Affine2D().scale(1 / INCH) + figure.dpi_scale_trans
    every: dict[str, Any] = {"transform": points, "linespacing": LEADING}
    head = every | {"va": "top", "fontsize": sheet.title}
    on_end = every | {"rotation": 90, "rotation_mode": "anchor", "va": "bottom"}
    turned = on_end | {"rotation": -90}
    return Cells(
        block,
        panels,
        sheet,
        axes,
        [figure.text(0, 0, word, ha="center", va="bottom", **every) for word in block.columns],
        [
            figure.text(0, 0, word, color=palette.accent(panel.accent), ha="center", **turned)
            for word, panel in zip(block.rows, panels[:: block.across], strict=False)
        ],
        figure.text(0, 0, letter, weight="bold", family=style.FACE, **head),
        figure.text(0, 0, block.heading, color=palette.accent(one.accent), **head),
        figure.text(0, 0, "" if shared[0] else across, ha="center", va="top", **every),
        figure.text(0, 0, "" if shared[1] else down, ha="center", **on_end),
        named,
    )


def set_place(ax: Axes, left: float, bottom: float, width: float, height: float) -> None:
    """Puts axes there, points from the lower left corner of the page."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    wide, tall = (INCH * inches for inches in figure.get_size_inches())
    ax.set_position((left / wide, bottom / tall, width / wide, height / tall))


def margins(ax: Axes) -> tuple[float, float, float, float]:
    """Points that ticks, labels and words take (left, right, above, below) beyond the axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    body, whole = ax.get_window_extent(), ax.get_tightbbox()
    assert whole is not None
    sides = body.x0 - whole.x0, whole.x1 - body.x1, whole.y1 - body.y1, body.y0 - whole.y0
    left, right, above, below = (max(0.0, INCH / figure.dpi * side) for side in sides)
    return left, right, above, below


def _shortened(texts: Sequence[Text], words: Sequence[str], size: float, room: float) -> None:
    """The words in full, or where one doesn't fit, without the first word that all share, which
    then stands with the first alone: "head 1", "2", "3"."""
    first, _, _ = words[0].partition(" ") if words else ("", "", "")
    fits = all(style.width(word, size) <= room for word in words)
    if not fits and all(word.startswith(f"{first} ") for word in words):
        words = [words[0], *(word.removeprefix(f"{first} ") for word in words[1:])]
    for text, word in zip(texts, words, strict=True):
        text.set_text(word)


def _broken(text: Text, size: float, room: float) -> int:
    """Breaks a text into lines of at most `room` points; how many there are."""
    found = style.lines(" ".join(text.get_text().split()), size, room)
    text.set_text("\n".join(found))
    return len(found)
