"""What Encodings shows: each encoding's card, its map, its curve, and what it is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._shared import draw, export, terms
from pages.encodings import controls, exports, pieces, words
from pages.encodings.results import Alone, bound, trained
from pages.encodings.state import AtlasSide, AtlasState
from viz_core import encodings
from viz_core.figures import encoding_atlas, encoding_parts
from viz_core.figures.attention_maps import ranges
from viz_core.figures.spec import Axis, Chart, Heatmap
from viz_core.render import palette, screen
from viz_core.words import say


def card(side: AtlasSide) -> None:
    """Name, formula, paper, and what the encoding does within and beyond the trained length."""
    c = encodings.get(side.encoding)
    end = "" if c.paper.title.endswith("?") else "."
    paper = f"[{c.paper.authors} {c.paper.year}]({c.paper.url}), *{c.paper.title}*{end}"
    st.latex(words.formula(c))
    st.markdown(
        say(
            "{summary} {paper}\n\n**Acts on** {parts}.  \n**Beyond L:** {beyond}",
            summary=say(c.summary),
            paper=paper,
            parts=say(words.WHERE.get(c.acts_on, c.acts_on)),
            beyond=say(c.beyond),
        )
    )


def drawn(sides: Sequence[Alone], state: AtlasState) -> list[encoding_atlas.Side]:
    """The sides that have a law, with their maps, as the figures take them."""
    return [
        encoding_atlas.Side(
            title=a.of(state.head),
            encoding=a.card.id,
            trained_length=state.trained,
            length=state.length,
            head=min(state.head, len(a.law) - 1),
            window=a.window(state.head, state.box),
            law=a.law,
            standing=a.standing,
            bound=bound(a),
        )
        for a in sides
        if a.law is not None
    ]


def maps(known: Sequence[encoding_atlas.Side], sides: Sequence[Alone], state: AtlasState) -> None:
    """The attention map of each side on one colour scale; the same part of all of them."""
    st.subheader(
        say("Attention from position alone"),
        anchor=False,
        help=terms.of("query", "key", "layer", "cell"),
    )
    for a in sides:
        if a.law is None:
            st.info(words.untrained(a.card))
    if not known:
        return
    _trail(state)
    figure = encoding_atlas.build(known)
    draw.maps(
        figure,
        [[]] * len(known),
        key="atlas_maps",
        linked=True,
        zoomed=[state.box is not None] * len(known),
        on_zoom=lambda _, box: controls.zoom(box),
        on_back=lambda _: controls.back(),
        height=560,
    )
    export.row(exports.maps(figure, sides, state), "atlas_maps")
    st.caption(figure.caption)
    with st.expander(say(words.HOW)):
        st.markdown(say(words.MAP))


def curves(known: Sequence[encoding_atlas.Side], sides: Sequence[Alone], state: AtlasState) -> None:
    """The logits of each side by distance, on the same axes."""
    if not known:
        return
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.subheader(
            say("By distance"),
            anchor=False,
            width="content",
            help=terms.of("distance", "slope", "logit", "nat"),
        )
        st.toggle(
            say("Logarithmic distance"),
            key="atlas_x_log",
            help=say("The distance axis in powers of ten, from distance 1 on."),
        )
    figure = encoding_atlas.curves(known, state.x_log)
    draw.charts(figure, key="atlas_curves", height=480 if len(state.sides) == 1 else 360)
    export.row(exports.curves(figure, sides, state), "atlas_curves")
    st.caption(figure.caption)
    with st.expander(say(words.HOW)):
        for name in dict.fromkeys(s.encoding for s in known):
            c = encodings.get(name)
            law = say(words.CURVE.get(name, c.law))
            st.markdown(say("**{encoding}.** {law}", encoding=c.name, law=law))


def parts(sides: Sequence[Alone], state: AtlasState) -> None:
    """What each side is made of, with its numbers; words beside the picture of a single one."""
    st.subheader(
        say("What it is made of"),
        anchor=False,
        help=terms.of("reach", "ripple", "wavelength", "bucket"),
    )
    columns = st.columns(2, gap="large")
    for i, a in enumerate(sides):
        _part(a, i, columns if len(sides) == 1 else [columns[i]] * 2, state)


def _part(a: Alone, i: int, places: Sequence[DeltaGenerator], state: AtlasState) -> None:
    found = pieces.part(a)
    with places[0]:
        st.markdown(f"**{a.title}**")
        if found is None:
            st.markdown(words.bare(a.card, trained(a.module), a.law is not None))
            return
        figure = encoding_parts.build(found)
        for panel in figure.panels:
            if isinstance(panel, Heatmap) and isinstance(found, encoding_parts.Vectors):
                _image(panel, found.channel, key=f"atlas_image{i}")
        draw.charts(figure, key=f"atlas_parts{i}")
        export.row(exports.part(figure, a, state), f"atlas_parts{i}")
    with places[1]:
        st.caption(figure.caption)
        with st.expander(say(words.HOW)):
            st.markdown(words.parts(a.card))
        _numbers(pieces.numbers(found), a.card.id, i)


def _numbers(rows: pd.DataFrame, encoding: str, i: int) -> None:
    """The numbers of a picture, folded up, with a download that has all their digits."""
    configs = {}
    for name in rows:
        digits = "%.5g" if rows[name].dtype.kind == "f" else None  # slopes and angles get small
        configs[name] = st.column_config.NumberColumn(pieces.label(name), format=digits)
    with st.expander(say("Numbers")):
        st.dataframe(
            rows,
            hide_index=True,
            key=f"atlas_rows{i}",
            column_config=configs,
        )
        st.download_button(
            say("Download as CSV"),
            lambda: rows.to_csv(index=False).encode(),
            file_name=f"attention-atlas-{encoding}.csv",
            mime="text/csv",
            on_click="ignore",
            key=f"atlas_csv{i}",
        )


def _trail(state: AtlasState) -> None:
    """The way back from a part of the maps to all of them."""
    if state.box is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        steps = len(st.session_state.atlas_trail)
        st.button(say("Whole map"), type="tertiary", on_click=controls.back, args=(steps,))
        if steps > 1:
            st.button(say("One step back"), type="tertiary", on_click=controls.back)
        st.markdown(f"**{ranges(*state.box)}**", width="content")


def _image(panel: Heatmap, channel: npt.NDArray[np.int64], key: str) -> None:
    """A matrix on the axes of a chart, its rows from the top down; a cell is read out on hover."""
    axes = Chart(
        panel.title,
        panel.accent,
        (),
        x=Axis(say("channel"), (-0.5, float(channel[-1]) + 0.5)),
        y=Axis(say("position"), (len(panel.value) - 0.5, -0.5)),
    )
    figure = screen.chart(axes, draw.dark())
    colours = palette.table(panel.scale.colours)
    figure.add_trace(
        go.Heatmap(
            x=channel,
            z=panel.value.astype(np.float32),
            zmin=panel.scale.low,
            zmax=panel.scale.high,
            colorscale=[[i / 255, f"rgb({r},{g},{b})"] for i, (r, g, b) in enumerate(colours)],
            colorbar={"thickness": 12, "outlinewidth": 0, "tickvals": [-1, 0, 1]},
            hovertemplate=say("position %{y}, channel %{x}<br>%{z:.3f}<extra></extra>"),
        )
    )
    figure.update_layout(margin={"r": 60})
    st.plotly_chart(
        figure,
        key=key,
        theme=None,
        config={"displayModeBar": False},
        alt=say("{title}, {where}.", title=panel.title, where=panel.where),
    )
