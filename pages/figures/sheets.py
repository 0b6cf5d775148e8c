"""A figure on the page that it is for, at its true size: lines of grey text give the scale."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from html import escape

import streamlit as st

from viz_core.words import say

PIXELS = 96 / 72  # of a screen, as browsers count them, to a point
LINES = 7  # of grey text below a figure
STYLE = """<style>
.sheet { overflow-x: auto; background: #fff; color: #1D2129; border: 1px solid #DEDED8;
  border-radius: 2px; padding: 28px 30px 34px; }
.sheet .paper { margin: 0 auto; display: grid; align-items: stretch; }
.sheet img { display: block; max-width: none; margin: 0 auto; }
.sheet p { margin: 8px 0 16px; font-family: 'Times New Roman', Times, 'STIX Two Text', serif;
  text-align: justify; hyphens: auto; }
.sheet .lines { background: repeating-linear-gradient(#E9E8E3 0 5px, transparent 5px 14.6px); }
.sheet .lines i { display: block; height: 100%; margin-left: 62%; background: #fff;
  transform: translateY(calc(100% - 10px)); }
.sheet .cut { overflow: hidden; }
.sheet .both { grid-column: 1 / -1; }
</style>"""


@dataclass(frozen=True)
class Paper:
    """What a page looks like, points: its columns are `column` wide and `gap` apart; the figure
    is `width` wide and its caption is set in type of `size`."""

    width: float
    column: float
    columns: int = 1
    gap: float = 0.0
    size: float = 8.0

    @property
    def both(self) -> bool:
        """Whether the figure spans both columns."""
        return self.columns == 2 and self.width > self.column + 1


def show(png: bytes, caption: str, alt: str, paper: Paper) -> None:
    """The picture, which is `paper.width` wide, above its caption, amid lines of grey text."""
    image = (
        f'<img src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}" '
        f'style="width: {_px(paper.width)}" alt="{escape(alt, quote=True)}">'
    )
    number = say("Figure 1.")
    # the leading of type this small is a fifth of its size
    words = (
        f'<p style="font-size: {_px(paper.size)}; line-height: 1.2">'
        f"<b>{number}</b> {escape(caption)}</p>"
    )
    tracks = " ".join([_px(paper.column)] * paper.columns)
    inside = f"{image}{words}"
    if paper.both:
        body = f'<div class="both">{inside}</div>' + _lines(LINES) * 2
    elif paper.columns == 2:
        body = f"<div>{inside}{_lines(LINES)}</div>{_lines()}"
    else:
        body = f"<div>{inside}{_lines(LINES)}</div>"
    st.html(
        f'{STYLE}<div class="sheet"><div class="paper" style="grid-template-columns: {tracks}; '
        f'column-gap: {_px(paper.gap)}; width: max-content">{body}</div></div>'
    )


def _lines(count: int | None = None) -> str:
    """So many lines of text, the last one short; None: as many as there is room for."""
    height = "" if count is None else f' style="height: {14.6 * count - 9.6:.1f}px"'
    return f'<div class="lines cut"{height}>{"" if count is None else "<i></i>"}</div>'


def _px(points: float) -> str:
    return f"{points * PIXELS:.2f}px"
