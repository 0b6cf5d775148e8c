"""Charts for the screen: a panel of curves as a plotly figure with explicit colours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from viz_core.figures.spec import Chart, Line
from viz_core.render import palette

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def chart(panel: Chart, dark: bool = False, height: int = 360) -> go.Figure:
    """One panel of curves as a plotly figure."""
    ink, faint = ("#E6E6E1", "#343941") if dark else ("#1D2129", "#E3E2DC")
    figure = go.Figure()
    faint_laws = [line for line in panel.lines if line.dashed and not line.strong]
    shown = [line for line in panel.lines if line.strong or not line.dashed]
    if faint_laws:  # one trace for all: browsers take their time for each
        shown.insert(0, _joined(faint_laws))
    for line in shown:
        if line.error is not None:
            figure.add_trace(_band(line, dark))
        figure.add_trace(_curve(line, dark))
    for place, words in panel.marks:
        if panel.x_range and panel.x_range[0] < place < panel.x_range[1]:
            figure.add_vline(x=place, line={"color": ink, "width": 1, "dash": "dot"})
            figure.add_annotation(
                x=np.log10(place) if panel.x_log else place,
                y=0.02,
                yref="paper",
                text=words,
                showarrow=False,
                xanchor="left",
                xshift=4,
                font={"size": 12, "color": ink},
            )
    limits = panel.x_range
    if limits and panel.x_log:
        limits = (np.log10(max(limits[0], 1)), np.log10(limits[1]))
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
    figure.update_xaxes(
        **axis, title_text=panel.x_label, type="log" if panel.x_log else "linear", range=limits
    )
    figure.update_yaxes(**axis, title_text=panel.y_label, range=panel.y_range)
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 56, "r": 18, "t": 36, "b": 48},
        title={
            "text": panel.title,
            "font": {"size": 16, "color": palette.accent(panel.accent, dark), "weight": 600},
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


def _joined(lines: list[Line]) -> Line:
    """Several lines as one, with gaps between them."""
    gap = [np.nan]
    x = np.concatenate([part for line in lines for part in (line.x, gap)])
    y = np.concatenate([part for line in lines for part in (line.y, gap)])
    return replace(lines[0], name="laws of the other heads", x=x, y=y)


def _curve(line: Line, dark: bool) -> go.Scatter:
    faint = 0.3 if line.dashed else 0.85  # the head in focus stands out, its law above all
    return go.Scatter(
        x=line.x.astype(np.float32),
        y=line.y.astype(np.float32),
        name=line.name,
        mode="lines",
        opacity=1.0 if line.strong else faint,
        line={
            "color": palette.accent(line.accent, dark)
            if line.strong and not line.dashed
            else palette.shaded(line.accent, 0.25 + 0.75 * line.shade, dark)
            if not line.dashed
            else ("#E6E6E1" if dark else "#1D2129"),
            "width": 1.1 if line.dashed or not line.strong else 2.2,
            "dash": "dash" if line.dashed else "solid",
        },
        hovertemplate=f"{line.name}<br>distance %{{x:,.0f}}<br>%{{y:.2f}} nats<extra></extra>",
    )


def _band(line: Line, dark: bool) -> go.Scatter:
    """Two standard errors each way around the curve."""
    assert line.error is not None
    up, down = line.y + 2 * line.error, line.y - 2 * line.error
    colour = palette.accent(line.accent, dark)
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return go.Scatter(
        x=np.concatenate((line.x, line.x[::-1])).astype(np.float32),
        y=np.concatenate((up, down[::-1])).astype(np.float32),
        fill="toself",
        fillcolor=f"rgba({r},{g},{b},0.16)",
        line={"width": 0},
        hoverinfo="skip",
        name=f"{line.name}, two standard errors",
    )
