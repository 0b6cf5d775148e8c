"""The README's picture: the signature figure as the screen draws it, on a light and a dark page.

    python docs/_make/picture.py        # writes docs/staircase-ripples-light.png and -dark.png

The same FigureSpec as `python -m viz_core figure staircase-ripples`, so it takes the held-out text
(`make corpus`), and a Chromium (`make test` brings one) to photograph the page with.
"""

from __future__ import annotations

import base64
import html
import io
import shutil
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from plotly.offline import get_plotlyjs

DOCS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(DOCS.parent))

from viz_core import plates  # noqa: E402
from viz_core.export.target import Target  # noqa: E402
from viz_core.figures.spec import Chart, FigureSpec, Heatmap, Scale  # noqa: E402
from viz_core.render import palette, png, screen  # noqa: E402

FIGURE = "staircase-ripples"
PAPER = {"light": "#FFFFFF", "dark": "#0D1117"}  # where GitHub shows it; made transparent below
SHARP = 2  # pixels of the picture for one of the page
SIDE = 256 // SHARP  # of a map, so that each of its cells is one pixel
WIDTH, HEIGHT = 960, 270  # of the page, and of a chart
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
STYLE = """
body {{ margin: 0; width: {width}px; font: 13px {font}; color: {ink}; background: {paper} }}
.maps {{ display: flex; justify-content: space-between; margin: 4px 8px 14px 12px }}
.charts {{ display: grid; grid-template-columns: 1fr 1fr; gap: 12px 24px }}
h2 {{ font-size: 16px; margin: 0 0 6px }}
.group {{ display: flex; gap: 8px }}
figure {{ margin: 0; text-align: center }}
figure img {{ display: block; width: {side}px; height: {side}px; image-rendering: pixelated;
  border: solid {ink}; border-width: 0 0 1px 1px; margin-top: 4px }}
figcaption {{ margin-top: 4px }}
.bar {{ display: flex; gap: 4px; margin-top: 46px; height: {side}px; font-size: 12px }}
.bar i {{ width: 12px }}
.bar span {{ position: relative; width: 34px }}
.bar em {{ position: absolute; bottom: var(--at); transform: translateY(50%); font-style: normal }}
.bar u {{ writing-mode: vertical-rl; transform: rotate(180deg); text-decoration: none;
  text-align: center; width: 30px }}
"""


def page(spec: FigureSpec, dark: bool) -> str:
    """The figure as a page: maps in a row, those of one encoding together, and charts below."""
    maps = [p for p in spec.panels if isinstance(p, Heatmap)]
    charts = [p for p in spec.panels if isinstance(p, Chart)]
    letters = iter("abcdefgh")
    groups = [
        _group(next(letters), list(some), dark) for _, some in groupby(maps, lambda p: p.accent)
    ]
    drawn = []
    for i, panel in enumerate(charts):
        figure = screen.chart(panel, dark, HEIGHT)
        figure.update_layout(title_text=f"({next(letters)}) {panel.title}")
        for x, y, label in _leaving(panel):  # the screen names what ends inside
            colour = palette.accent(panel.accent, dark)
            look = {"showarrow": False, "xanchor": "left", "yanchor": "bottom", "xshift": 6}
            figure.add_annotation(x=x, y=y, text=label, font_color=colour, font_size=12, **look)
        about = {"displayModeBar": False, "responsive": True}
        name = f"chart{i}"
        drawn.append(figure.to_html(about, include_plotlyjs=False, full_html=False, div_id=name))
    style = STYLE.format(
        width=WIDTH,
        side=SIDE,
        font=screen.FONT,
        ink=palette.accent("ink", dark),
        paper=PAPER["dark" if dark else "light"],
    )
    return (
        f'<!doctype html><meta charset="utf-8"><style>{style}</style>'
        f"<script>{get_plotlyjs()}</script><main><div class=maps>{''.join(groups)}"
        f"{_bar(maps[0].scale)}</div><div class=charts>{''.join(drawn)}</div></main>"
    )


def _leaving(panel: Chart) -> list[tuple[float, float, str]]:
    """Where curves leave the chart through its floor, each with its label."""
    floor = panel.y.range[0] if panel.y.range else -np.inf
    below = [(line, np.flatnonzero(line.y < floor)) for line in panel.lines if line.label]
    return [(float(line.x[i[0]]), floor, line.label) for line, i in below if line.y[-1] < floor]


def _group(letter: str, maps: Sequence[Heatmap], dark: bool) -> str:
    *where, _ = maps[0].title.split(", ")
    figures = []
    for panel in maps:
        cells = base64.b64encode(png.thumbnail(panel)).decode()
        head = html.escape(panel.title.split(", ")[-1])
        figures.append(f'<figure>{head}<img src="data:image/png;base64,{cells}"></figure>')
    length = maps[0].rows[1]
    return (
        f'<section><h2 style="color: {palette.accent(maps[0].accent, dark)}">({letter}) '
        f"{html.escape(', '.join(where))}</h2><div class=group>{''.join(figures)}</div>"
        f"<figcaption>queries down, keys across, {length:,} tokens</figcaption></section>"
    )


def _bar(scale: Scale) -> str:
    colours = ", ".join("rgb({},{},{})".format(*c) for c in palette.table(scale.colours)[::15])
    ticks = "".join(
        f'<em style="--at: {(value - scale.low) / (scale.high - scale.low):.1%}">{label}</em>'
        for value, label in scale.ticks
    )
    return (
        f'<div class=bar><i style="background: linear-gradient(to top, {colours})"></i>'
        f"<span>{ticks}</span><u>{html.escape(scale.label)}</u></div>"
    )


def photographed(pages: Sequence[str]) -> list[bytes]:
    """Each page as a browser shows it, as PNG, once all of its charts are drawn."""
    known = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=known, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": WIDTH, "height": 800}, device_scale_factor=SHARP)
        found = []
        for page in pages:
            view.set_content(page)
            charts = page.count("Plotly.newPlot(")
            view.wait_for_function(f"document.querySelectorAll('.xtitle').length == {charts}")
            found.append(view.locator("main").screenshot())
        browser.close()
    return found


def small(picture: bytes, paper: str) -> bytes:
    """In 256 colours, the page's own transparent: a reader's page may be another white."""
    out = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        flat = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    colours = flat.getpalette() or []
    triples = list(zip(*[iter(colours)] * 3, strict=True))
    wanted = tuple(int(paper[i : i + 2], 16) for i in (1, 3, 5))
    clear = min(
        range(len(triples)),
        key=lambda i: sum(abs(a - b) for a, b in zip(triples[i], wanted, strict=True)),
    )
    flat.save(out, "PNG", optimize=True, transparency=clear)
    return out.getvalue()


def main() -> None:
    spec = plates.get(FIGURE).export({}, Target()).spec
    taken = photographed([page(spec, name == "dark") for name in PAPER])
    for (name, paper), picture in zip(PAPER.items(), taken, strict=True):
        path = DOCS / f"{FIGURE}-{name}.png"
        path.write_bytes(small(picture, paper))
        print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
