"""A figure as one interactive page: every number on hover, nothing fetched from anywhere."""

from __future__ import annotations

import html

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from viz_core.figures.spec import FigureSpec, Heatmap
from viz_core.render import palette, screen
from viz_core.render.paper import maps
from viz_core.words import language, say

SIDE, HEIGHT = 360, 320  # pixels: of a map, and of a chart
_STYLE = f"""
body {{ font: 15px {screen.FONT}; color: #1D2129; background: #FCFCFA; margin: 2rem auto;
  max-width: 90rem; padding: 0 1rem }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(26rem, 1fr)); gap: 1rem }}
figcaption {{ max-width: 60rem; line-height: 1.5 }}
pre {{ white-space: pre-wrap; font-size: 12px }}
"""


def page(spec: FigureSpec, title: str, command: str, about: str) -> str:
    """The page as HTML; `about` is JSON, which lies in it as data."""
    panels = []
    for i, panel in enumerate(spec.panels):
        drawn = _map(panel) if isinstance(panel, Heatmap) else screen.chart(panel, height=HEIGHT)
        panels.append(
            drawn.to_html(
                full_html=False,
                include_plotlyjs=False,
                div_id=f"panel{i + 1}",
                config={"displayModeBar": False, "responsive": True},
            )
        )
    data = about.replace("<", "\\u003c")  # no JSON in a script can end it
    return (
        f'<!doctype html>\n<html lang="{language()}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n"
        f"<script>{get_plotlyjs()}</script>\n"
        f'<script type="application/json" id="provenance">{data}</script>\n</head>\n<body>\n'
        f"<h1>{html.escape(title)}</h1>\n<figure>\n<main>\n" + "\n".join(panels) + "\n</main>\n"
        f"<figcaption>{html.escape(spec.caption)}</figcaption>\n</figure>\n"
        f"<pre>{html.escape(command)}</pre>\n</body>\n</html>\n"
    )


def _map(panel: Heatmap) -> go.Figure:
    """One map in tokens, on its own scale with its own bar."""
    colours = palette.table(panel.scale.colours)
    half = (panel.cell - 1) / 2  # the middle of a cell's tokens
    ticks = panel.scale.ticks
    figure = go.Figure(
        go.Heatmap(
            z=panel.value.astype("<f4"),
            x0=panel.columns[0] + half,
            dx=panel.cell,
            y0=panel.rows[0] + half,
            dy=panel.cell,
            zmin=panel.scale.low,
            zmax=panel.scale.high,
            colorscale=[[i / 255, f"rgb({r},{g},{b})"] for i, (r, g, b) in enumerate(colours)],
            colorbar={
                "title": {"text": panel.scale.label, "side": "right"},
                "tickvals": [value for value, _ in ticks],
                "ticktext": [label for _, label in ticks],
                "thickness": 12,
            },
            hovertemplate=say("query %{y}, key %{x}")
            + f"<br>{say(panel.unit)} %{{z:.4g}}<extra></extra>",
            hoverongaps=False,
        )
    )
    ink = palette.accent("ink")
    axis = {"showgrid": False, "zeroline": False, "linecolor": ink, "mirror": True}
    across, down = maps.words(panel)
    figure.update_xaxes(title_text=across, title_standoff=6)
    figure.update_yaxes(title_text=down, title_standoff=6)
    figure.update_xaxes(range=list(panel.columns), constrain="domain", **axis)
    figure.update_yaxes(range=list(panel.rows[::-1]), scaleanchor="x", constrain="domain", **axis)
    figure.update_layout(
        template="none",
        height=SIDE,
        margin={"l": 56, "r": 18, "t": 36, "b": 36},
        title={
            "text": html.escape(panel.title),
            "font": {"size": 16, "color": palette.accent(panel.accent)},
            "x": 0.0,
            "xref": "paper",
        },
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": screen.FONT, "size": 13, "color": ink},
    )
    return figure
