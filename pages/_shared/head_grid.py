"""Grids of heads: a row per layer, a column per head, each cell a few letters on a tint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from pages._shared import draw
from viz_core.render import palette
from viz_core.words import say

FULL = 0.44  # opacity of the strongest tint, on which ink can still be read
STYLE = """<style>
.heads { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr));
  gap: 14px 28px; }
.heads table { border-collapse: separate; border-spacing: 2px; width: 100%; table-layout: fixed;
  font-size: 13px; font-variant-numeric: tabular-nums; margin: 0; }
.heads caption { text-align: left; font-size: 16px; font-weight: 600; padding-bottom: 4px; }
.heads th { font-weight: 400; opacity: 0.7; padding: 1px; border: 0; text-align: center; }
.heads tr > :first-child { width: 2.2em; }
.heads td { border: 0; padding: 5px 1px; text-align: center; border-radius: 2px; cursor: default; }
.heads b { font-weight: 700; }
.names { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 14px; }
.names i { display: inline-block; width: 22px; vertical-align: middle; margin-right: 6px; }
</style>"""


@dataclass(frozen=True)
class Cell:
    """A few letters, how strong its tint is (0 .. 1), what is said of it, whether it stands out."""

    letters: str
    tint: float
    words: str = ""
    bold: bool = False


@dataclass(frozen=True)
class Grid:
    """One checkpoint's heads: cells [layer][head], tinted in the colour of `accent`."""

    title: str
    accent: str
    cells: Sequence[Sequence[Cell]]


def show(grids: Sequence[Grid]) -> None:
    """The grids side by side, one below the other on a narrow page."""
    st.html(STYLE + f'<div class="heads">{"".join(_table(g) for g in grids)}</div>')


def legend(names: Sequence[tuple[str, str]], dashed: str = "") -> None:
    """What the colours of lines mean: (name, encoding); `dashed` says what dashed ones are."""
    ink = palette.accent("ink", draw.dark())
    parts = [(n, f"3px solid {palette.accent(e, draw.dark())}") for n, e in names]
    parts += [(dashed, f"2px dashed {ink}")] if dashed else []
    spans = [f'<span><i style="border-top: {line}"></i>{escape(n)}</span>' for n, line in parts]
    st.html(STYLE + f'<div class="names">{"".join(spans)}</div>')


def _table(grid: Grid) -> str:
    colour = palette.accent(grid.accent, draw.dark())
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    heads = range(1, len(grid.cells[0]) + 1)
    rows = [f"<tr><td></td>{''.join(f'<th scope=col>{h}</th>' for h in heads)}</tr>"]
    for i, cells in enumerate(grid.cells, 1):
        row = f"<th scope=row>{i}</th>"
        for h, cell in enumerate(cells, 1):
            shade = f"rgba({r},{g},{b},{FULL * min(max(cell.tint, 0.0), 1.0):.3f})"
            title = say("layer {layer}, head {head}: {words}", layer=i, head=h, words=cell.words)
            letters = escape(cell.letters)
            letters = f"<b>{letters}</b>" if cell.bold else letters
            row += f'<td style="background: {shade}" title="{escape(title)}">{letters}</td>'
        rows.append(f"<tr>{row}</tr>")
    heading = palette.letters(grid.accent, draw.dark())
    caption = f'<caption style="color: {heading}">{escape(grid.title)}</caption>'
    return f"<table>{caption}{''.join(rows)}</table>"
