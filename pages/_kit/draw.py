"""Figures on the page: maps and walls through two small components, charts through plotly."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from viz_core.figures.spec import Chart, FigureSpec, Heatmap
from viz_core.render import canvas, palette, screen

_FOLDER = Path(__file__).parent / "components"


def _component(name: str):
    js, css = ((_FOLDER / f"{name}.{end}").read_text(encoding="utf-8") for end in ("js", "css"))
    return st.components.v2.component(f"atlas_{name}", js=js, css=css)


_maps, _wall = _component("maps"), _component("wall")


def dark() -> bool:
    """Whether the person's page is dark."""
    return st.context.theme.type == "dark"


def maps(spec: FigureSpec, labels: Sequence[Sequence[str]], key: str, height: int = 560) -> None:
    """The Heatmap panels in a row on one scale; `labels` holds each panel's tokens."""
    panels = [p for p in spec.panels if isinstance(p, Heatmap)]
    messages = [canvas.message(p, names, dark()) for p, names in zip(panels, labels, strict=True)]
    bar = canvas.bar(panels[0].scale)
    _maps(data={"maps": messages, "bar": bar, "dark": dark(), "height": height}, key=key)


def wall(
    images: Sequence[bytes],
    heads: int,
    picked: tuple[int, int],
    name: str,
    encoding: str,
    key: str,
    on_pick: Callable[[int, int], None],
) -> None:
    """All heads as thumbnails, layer by layer; `on_pick(layer, head)` runs when one is picked."""
    texts = [base64.b64encode(image).decode("ascii") for image in images]

    def changed() -> None:
        found = st.session_state[key].picked
        if found:
            on_pick(*found)

    _wall(
        data={
            "images": [texts[i : i + heads] for i in range(0, len(texts), heads)],
            "layer": picked[0],
            "head": picked[1],
            "accent": palette.accent(encoding, dark()),
            "name": name,
            "dark": dark(),
        },
        key=key,
        on_picked_change=changed,
    )


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
            alt=f"{panel.title}. {spec.caption}",
        )
        if words:
            column.caption(words[i])


def reporter(place: st.delta_generator.DeltaGenerator, name: str) -> Callable[[float], None]:
    """Shows how far a computation is; a changed control stops it at the next step."""

    def report(done: float) -> None:
        place.progress(min(done, 1.0), f"Computing {name}: {done:.0%}")

    return report
