"""Small multiples for the screen: many small charts in one plotly figure, on shared axes.

A browser takes its time for each plotly figure, and a chart's own margins take their room; in one
figure a panel costs little more than its curves. Tick labels stand on the left and at the bottom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz_core.figures.spec import Axis, Chart, Line
from viz_core.render import palette
from viz_core.render.screen import FONT

LEFT, RIGHT, TOP, BOTTOM = 48, 4, 20, 42  # margins, pixels
GAP_X, GAP_Y = 0.06, 22  # between panels: of a panel's width, and pixels, for its title
FILL = 0.18  # opacity of bands


def multiples(
    panels: Sequence[Chart], across: int, dark: bool = False, height: int = 96
) -> go.Figure:
    """All `panels`, which share their axes, in rows of `across`; each is `height` pixels high.

    Panels' marks and levels, and labels at the ends of curves, have no room here.
    """
    ink = palette.accent("ink", dark)
    rows = math.ceil(len(panels) / across)
    room = rows * height + (rows - 1) * GAP_Y
    width = 1 / (across + (across - 1) * GAP_X)
    words = {"showarrow": False, "font": {"size": 12, "color": ink}, "xref": "paper"}
    words |= {"yref": "paper"}
    # at once: plotly goes through the whole layout for each change to a figure
    layout: dict[str, Any] = {
        "template": "none",
        "height": room + TOP + BOTTOM,
        "margin": {"l": LEFT, "r": RIGHT, "t": TOP, "b": BOTTOM},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12, "color": ink},
        "showlegend": False,
        "hovermode": "closest",
        "annotations": [
            words | {"text": panels[0].x.label, "x": 0.5, "y": 0, "yshift": -BOTTOM}
            | {"yanchor": "bottom"},
            words | {"text": panels[0].y.label, "x": 0, "y": 0.5, "xshift": -LEFT}
            | {"xanchor": "left", "textangle": -90},
        ],
    }  # fmt: skip
    traces = []
    for i, panel in enumerate(panels):
        row, column = divmod(i, across)
        n = "" if i == 0 else str(i + 1)
        left = column * width * (1 + GAP_X)
        top = 1 - row * (height + GAP_Y) / room
        layout[f"xaxis{n}"] = _axis(panel.x, ink, dark) | {
            "domain": (left, min(1.0, left + width)),
            "anchor": f"y{n}",
            "showticklabels": i + across >= len(panels),
        }
        layout[f"yaxis{n}"] = _axis(panel.y, ink, dark) | {
            "domain": (max(0.0, top - height / room), top),
            "anchor": f"x{n}",
            "showticklabels": column == 0,
        }
        layout["annotations"].append(
            {"xref": f"x{n} domain", "yref": f"y{n} domain", "x": 0, "y": 1, "showarrow": False}
            | {"xanchor": "left", "yanchor": "bottom", "text": panel.title}
            | {"font": {"size": 11, "color": ink}}
        )
        place = {"xaxis": f"x{n}", "yaxis": f"y{n}"}
        for line in panel.lines:
            if line.band is not None:
                traces.append(_band(line, dark) | place)
            traces.append(_curve(line, panel, dark) | place)
    return go.Figure(traces, layout)


def _axis(axis: Axis, ink: str, dark: bool) -> dict[str, Any]:
    """Look, kind and limits, as plotly calls them, with the few ticks that there is room for."""
    limits: tuple[float, ...] | None = axis.range
    ticks: dict[str, Any] = {"nticks": 4}
    if axis.log:
        limits = limits and tuple(map(math.log10, limits))
        ticks = {"dtick": 1, "tickformat": ",.0f"}  # a label per power of ten
    return {
        "type": "log" if axis.log else "linear",
        "range": limits,
        "showline": True,
        "linecolor": ink,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 3,
        "tickcolor": ink,
        "tickfont": {"size": 11},
        "gridcolor": "#343941" if dark else "#E3E2DC",
        **ticks,
    }


def _curve(line: Line, panel: Chart, dark: bool) -> dict[str, Any]:
    said = panel.read.replace("{", "%{").replace("\n", "<br>")
    said += "<br>%{text}" * bool(line.notes)
    return {
        "type": "scatter",
        "x": line.x.astype(np.float32),
        "y": line.y.astype(np.float32),
        "name": line.name,
        "mode": "lines",
        "opacity": 1.0 if line.strong else 0.7,  # a law may lie on its curve and hide it
        "line": {
            "color": palette.accent(line.accent, dark),
            "width": 1.5 if line.strong else 1.0,
            "dash": line.dash,
        },
        "text": list(line.notes) or None,
        "hovertemplate": f"{line.name}, {panel.title}<br>{said}<extra></extra>",
    }


def _band(line: Line, dark: bool) -> dict[str, Any]:
    assert line.band is not None
    low, high = line.band.low, line.band.high
    known = np.isfinite(low) & np.isfinite(high)
    x = line.x[known]
    r, g, b = (int(palette.accent(line.accent, dark)[i : i + 2], 16) for i in (1, 3, 5))
    return {
        "type": "scatter",
        "x": np.concatenate((x, x[::-1])).astype(np.float32),
        "y": np.concatenate((high[known], low[known][::-1])).astype(np.float32),
        "mode": "lines",
        "fill": "toself",
        "fillcolor": f"rgba({r},{g},{b},{FILL})",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "name": f"{line.name}, {line.band.words}",
    }
