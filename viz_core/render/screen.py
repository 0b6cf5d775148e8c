"""Charts for the screen: a panel of curves as a plotly figure with explicit colours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unicodedata import east_asian_width

import numpy as np
import plotly.graph_objects as go

from viz_core.figures.spec import Axis, Chart, Line, Values
from viz_core.render import labels, palette

FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'PingFang SC', "
    "'Hiragino Sans GB', 'Microsoft YaHei', 'Noto Sans SC', 'Noto Sans CJK SC', "
    "'WenQuanYi Micro Hei', sans-serif"
)
TOP, BOTTOM, LEFT, RIGHT = 36, 48, 56, 18  # margins, pixels
FILL, FILL_OF_MANY = 0.16, 0.09  # opacity of bands
LETTER, LINE = 6.6, 16  # a label's width per letter and its height, pixels, at 12 points
WIDE = 12 / LETTER  # a Chinese letter: as wide as it is high


def chart(panel: Chart, dark: bool = False, height: int = 360) -> go.Figure:
    """One panel of curves as a plotly figure of `height` pixels, as wide as its place."""
    ink = palette.accent("ink", dark)
    faint = "#343941" if dark else "#E3E2DC"
    figure = go.Figure()
    bands = sum(line.band is not None for line in panel.lines)
    for line in _merged(panel.lines):
        if line.band is not None:
            figure.add_trace(_band(line, FILL if bands < 3 else FILL_OF_MANY, dark))
        figure.add_trace(_curve(line, panel.read, dark))
    # marks and their words go in at once: plotly checks all of them again for each that is added
    words = {"showarrow": False, "xanchor": "left", "font": {"size": 12, "color": ink}, "xshift": 4}
    dotted = {"type": "line", "line": {"color": ink, "width": 1, "dash": "dot"}}
    height_of_words = 0.99 if panel.marks_on_top else 0.02
    shapes, notes = list[dict[str, Any]](), list[dict[str, Any]]()
    for place, text in panel.marks:
        if panel.x.range and panel.x.range[0] < place < panel.x.range[1]:
            ends = {"x0": place, "x1": place, "y0": 0, "y1": 1, "yref": "y domain"}
            shapes.append(dotted | ends)
            at = {"x": _at(panel.x, place), "y": height_of_words, "yref": "paper"}
            notes.append(words | at | {"text": text})
    for place, text in panel.levels:
        shapes.append(dotted | {"y0": place, "y1": place, "x0": 0, "x1": 1, "xref": "x domain"})
        at = {"x": 0.0, "xref": "paper", "y": _at(panel.y, place), "yshift": 9}
        notes.append(words | at | {"text": text})
    axis = {
        "gridcolor": faint,
        "zeroline": False,
        "showline": True,
        "linecolor": ink,
        "ticks": "outside",
        "tickcolor": ink,
        "ticklen": 4,
        "title_font_size": 13,
    }
    figure.update_xaxes(**axis, **_scale(panel.x))
    figure.update_yaxes(**axis, **_scale(panel.y))
    longest = max((_letters(line.label) for line in panel.lines), default=0)
    figure.update_layout(
        template="none",
        height=height,
        shapes=shapes,
        annotations=notes + _ends(panel, height, dark),
        margin={
            "l": LEFT + 7 * max(0, _widest(panel.y) - 3),
            "r": max(RIGHT, round(16 + LETTER * longest)),
            "t": TOP,
            "b": BOTTOM,
        },
        title={
            "text": panel.title,
            "font": {"size": 16, "color": palette.letters(panel.accent, dark), "weight": 600},
            "x": 0.0,
            "xref": "paper",
            "y": 0.98,
        },
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 13, "color": ink},
        showlegend=False,
        hovermode="closest",
    )
    return figure


def _scale(axis: Axis) -> dict[str, Any]:
    """What plotly calls an axis's title, kind, limits and ticks."""
    limits = axis.range
    if limits and axis.log:
        limits = (_at(axis, limits[0]), _at(axis, limits[1]))
    ticks: dict[str, list[Any]] = {} if axis.ticks is None else {"tickvals": [], "ticktext": []}
    for place, label in axis.ticks or ():
        ticks["tickvals"].append(place)
        ticks["ticktext"].append(label)
    kind = "log" if axis.log else "linear"
    return {"title_text": axis.label, "type": kind, "range": limits, **ticks}


def _widest(axis: Axis) -> int:
    """Letters of the longest tick label, as far as it can be known."""
    if axis.ticks is not None:
        return max((len(label) for _, label in axis.ticks), default=0)
    low, high = axis.range or (0.0, 0.0)
    return len(f"{low:.0f}") if high - low >= 5 else 4  # "0.25"


def _letters(text: str) -> float:
    """How many Latin letters are as wide as `text`."""
    return sum(WIDE if east_asian_width(letter) in "WF" else 1 for letter in text)


def _at(axis: Axis, place: float) -> float:
    """Where plotly has `place` on `axis`, for limits and annotations: its logarithm on log axes."""
    return float(np.log10(place)) if axis.log else place


def _merged(lines: tuple[Line, ...]) -> list[Line]:
    """Each group as one line with gaps, lowest of all: browsers take their time for each trace."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        if line.group:
            groups.setdefault(line.group, []).append(line)
    merged = []
    for name, members in groups.items():
        x, y = _joined([m.x for m in members]), _joined([m.y for m in members])
        merged.append(replace(members[0], name=name, x=x, y=y, notes=()))
    return merged + [line for line in lines if not line.group]


def _joined(parts: list[Values]) -> Values:
    """All parts in a row, a gap after each."""
    joined: Values = np.concatenate([values for part in parts for values in (part, [np.nan])])
    return joined


def _colour(line: Line, dark: bool) -> str:
    if line.shade is None:
        return palette.accent(line.accent, dark)
    return palette.shaded(line.accent, 0.25 + 0.75 * line.shade, dark)


def _curve(line: Line, read: str, dark: bool) -> go.Scatter:
    # what is in focus stands out, above all from the background
    opacity = 1.0 if line.strong else 0.3 if line.group else 0.85
    said = read.replace("{", "%{").replace("\n", "<br>")
    return go.Scatter(
        x=line.x.astype(np.float32),
        y=line.y.astype(np.float32),
        name=line.name,
        mode="lines+markers" if line.markers else "lines",
        marker={"size": 6} if line.markers else None,
        opacity=opacity,
        line={
            "color": _colour(line, dark),
            "width": 2.2 if line.strong and (line.markers or line.dash == "solid") else 1.1,
            "dash": line.dash,
        },
        text=[note.replace("\n", "<br>") for note in line.notes] or None,
        hovertemplate=f"{line.name}<br>{said}{'<br>%{text}' * bool(line.notes)}<extra></extra>",
    )


def _band(line: Line, fill: float, dark: bool) -> go.Scatter:
    """The interval around a curve, where it has one."""
    assert line.band is not None
    low, high = line.band.low, line.band.high
    known = np.isfinite(low) & np.isfinite(high)
    x = line.x[known]
    r, g, b = (int(palette.accent(line.accent, dark)[i : i + 2], 16) for i in (1, 3, 5))
    return go.Scatter(
        x=np.concatenate((x, x[::-1])).astype(np.float32),
        y=np.concatenate((high[known], low[known][::-1])).astype(np.float32),
        mode="lines",
        fill="toself",
        fillcolor=f"rgba({r},{g},{b},{fill})",
        line={"width": 0},
        hoverinfo="skip",
        name=f"{line.name}, {line.band.words}",
    )


def _ends(panel: Chart, height: int, dark: bool) -> list[dict[str, Any]]:
    """The curves' labels, right of their last points; apart where points are close together.

    A label that had to move is tied to its point by a thin line; so is that of a curve that ends
    early, which hangs below its point or stands above it: others run on beside it.
    """
    named = [
        (line, place)
        for line in panel.lines
        if line.label and len(place := np.flatnonzero(np.isfinite(line.y)))
    ]
    if not named or panel.y.range is None:
        return []
    bottom, top = (_at(panel.y, end) for end in panel.y.range)
    room = height - TOP - BOTTOM
    points = [(float(line.x[p[-1]]), float(line.y[p[-1]])) for line, p in named]
    right = max(x for x, _ in points)
    down = [room * (top - _at(panel.y, y)) / (top - bottom) for _, y in points]
    inside = [i for i, (x, _) in enumerate(points) if x == right]
    places = labels.spread([down[i] for i in inside], LINE, 0, room)
    moved = {i: place - down[i] for i, place in zip(inside, places, strict=True)}
    out = []
    for i, (line, _) in enumerate(named):
        ax, ay = (10, moved[i]) if i in moved else (14, 1.5 * LINE)
        if i not in moved and down[i] + 2 * LINE > room:
            ay = -ay
        out.append(
            {
                "x": _at(panel.x, points[i][0]),
                "y": _at(panel.y, points[i][1]),
                "text": line.label,
                "font": {"size": 12, "color": palette.letters(line.accent, dark)},
                "bgcolor": "rgba(20,22,26,0.7)" if dark else "rgba(252,252,250,0.7)",  # the page's
                "borderpad": 0,
                "xanchor": "left",
                "showarrow": True,
                "arrowhead": 0,
                "arrowwidth": 1,
                "arrowcolor": _colour(line, dark) if abs(ay) > LINE / 2 else "rgba(0,0,0,0)",
                "standoff": 4,
                "ax": ax,
                "ay": ay,
            }
        )
    return out
