"""Figures on the page: maps and walls through two small components, charts through plotly."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from pages._shared.boxes import Box
from viz_core.figures.spec import Chart, FigureSpec, Heatmap
from viz_core.render import canvas, palette, screen
from viz_core.words import mark, say

_FOLDER = Path(__file__).parent / "components"
MAP_WORDS = {  # what a map's script says, with fields that it fills in
    "query": mark("query"),
    "key": mark("key"),
    "trained": mark("trained length {length}"),
    "distance": mark("distance {distance}"),
    "ahead": mark("distance {distance} ahead"),
    "place": mark("query {query}, key {key}"),
    "late": mark("{place}: the key lies after the query"),
    "outside": mark("{place}: out of this layer's window"),
    "pair": mark("{n} pair"),
    "pairs": mark("{n} pairs"),
    "listed": mark("{before}, {one}"),
    "attribution": mark("attribution"),
    "attributed": mark("{where}: attribution {value} nats"),
    "centred": mark("{where}: {value} nats about the row's mean"),
    "value": mark("{where}: {of} = {value}, log₁₀ {log}"),
    "keys": mark(
        "{title}, {where}. Arrow keys move the crosshair and read values out; Z zooms in around "
        "it. A box drawn with the mouse zooms in."
    ),
    "zoomed_keys": mark(
        "{title}, {where}. Arrow keys move the crosshair and read values out; Z zooms in around "
        "it, Backspace goes back. A box drawn with the mouse zooms in."
    ),
    "tap": mark("Tap twice to zoom in."),
    "drag": mark("Drag a box to zoom in."),
    "drag_further": mark("Drag a box to zoom in further; Backspace goes back."),
    "box": mark("queries {queries}, keys {keys}: {sizes} tokens"),
    "all_late": mark("Nothing to zoom into: every key there lies after every query."),
    "all_outside": mark("Nothing to zoom into: no query there sees a key there."),
    "smallest": mark("Nothing smaller to zoom into here."),
    "whole": mark("This is the whole map."),
    "no_crosshair": mark("Arrow keys place the crosshair; then Z zooms in around it."),
}


def component(name: str):
    """The component of a folder. Its scripts are one module: inline, they could import nothing."""

    def joined(end: str) -> str:
        files = sorted((_FOLDER / name).glob(f"*.{end}"))
        return "\n".join(file.read_text(encoding="utf-8") for file in files)

    return st.components.v2.component(f"atlas_{name}", js=joined("js"), css=joined("css"))


_maps, _wall = component("maps"), component("wall")


def dark() -> bool:
    """Whether the person's page is dark."""
    return st.context.theme.type == "dark"


def maps(
    spec: FigureSpec,
    labels: Sequence[Sequence[str]],
    key: str,
    linked: bool,
    zoomed: Sequence[bool],
    on_zoom: Callable[[int, Box], None],
    on_back: Callable[[int], None],
    height: int = 560,
) -> None:
    """The Heatmap panels in a row, on one scale or each on its own; `labels` are their tokens.

    `on_zoom(panel, box)` runs when a box was drawn, `on_back(panel)` when a step back was asked
    for; `zoomed` says which panels can take one. Boxes are shown on all panels while `linked`.
    Maps are squares of at most `height` pixels.
    """
    panels = [p for p in spec.panels if isinstance(p, Heatmap)]
    scales = dict.fromkeys(p.scale for p in panels)
    bars = [p.scale for p in panels] if len(scales) > 1 else list(scales)
    words = {name: say(message) for name, message in MAP_WORDS.items()}
    messages = [
        canvas.message(panel, names, dark()) | {"words": words}
        for panel, names in zip(panels, labels, strict=True)
    ]
    turn = f"{key}_turn"

    def drawn() -> None:
        asked = st.session_state[key].zoom
        if asked:
            st.session_state[turn] = st.session_state.get(turn, 0) + 1
            (a, b), (c, d) = asked["rows"], asked["columns"]
            on_zoom(int(asked["panel"]), ((int(a), int(b)), (int(c), int(d))))

    def stepped() -> None:
        asked = st.session_state[key].back
        if asked:
            on_back(int(asked["panel"]))

    data: dict[str, Any] = {
        "maps": messages,
        "bars": [canvas.bar(scale) for scale in bars],
        "dark": dark(),
        "height": height,
        "linked": linked,
        "zoomed": list(zoomed),
        # unread, but the script runs on new data alone, and its maps have grown towards a window
        # that may have been cancelled
        "turn": st.session_state.get(turn, 0),
    }
    _maps(data=data, key=key, on_zoom_change=drawn, on_back_change=stepped)


@dataclass(frozen=True)
class Picture:
    """One head of a wall: its place, a PNG, and what is said of it, briefly and in full."""

    layer: int
    head: int
    png: bytes
    value: str = ""
    words: str = ""


def wall(
    pictures: Sequence[Picture],
    across: int | None,
    picked: tuple[int, int],
    name: str,
    encoding: str,
    key: str,
    on_pick: Callable[[int, int], None],
) -> None:
    """Heads as thumbnails, in the order of `pictures`: in rows of `across`, one for each layer, or
    one after the other as they fit, each with its label. `on_pick(layer, head)` runs when one is
    picked."""

    def changed() -> None:
        found = st.session_state[key].picked
        if found:
            on_pick(*found)

    items = [
        {
            "layer": p.layer,
            "head": p.head,
            "place": say("layer {layer}, head {head}", layer=p.layer + 1, head=p.head + 1),
            "png": base64.b64encode(p.png).decode("ascii"),
            "value": p.value,
            "words": p.words,
        }
        for p in pictures
    ]
    data: dict[str, Any] = {
        "items": items,
        "across": across,
        "layer": picked[0],
        "head": picked[1],
        "accent": palette.accent(encoding, dark()),
        "name": name,
        "about": say("All heads of {name}", name=name),
        "dark": dark(),
    }
    _wall(data=data, key=key, on_picked_change=changed)


def charts(
    spec: FigureSpec, key: str, height: int = 360, across: int = 4, words: Sequence[str] = ()
) -> None:
    """The Chart panels of `spec` in rows of `across`, one below the other on a narrow page.

    `words` stand below the panels, one each.
    """
    panels = [p for p in spec.panels if isinstance(p, Chart)]
    across = min(across, len(panels))
    columns = [column for _ in range(0, len(panels), across) for column in st.columns(across)]
    for i, (column, panel) in enumerate(zip(columns, panels, strict=False)):
        column.plotly_chart(
            screen.chart(panel, dark(), height),
            key=f"{key}{i}",
            theme=None,
            config={"displayModeBar": False},
            alt=say("{title}. {caption}", title=panel.title, caption=spec.caption),
        )
        if words:
            column.caption(words[i])
