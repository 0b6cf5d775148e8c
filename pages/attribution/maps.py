"""A head's attention beside what of it is used: two maps, and both profiles by distance."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._shared import draw, export, measuring, terms
from pages._shared.boxes import Box
from pages.attribution import controls, exports, results, wait
from pages.attribution.question import Question
from pages.attribution.state import AttributionState
from pages.attribution.tokens import nats
from viz_core import series
from viz_core.attribution import PatternAttribution
from viz_core.figures import attention_maps, attribution_map, distance_profiles
from viz_core.figures.spec import FigureSpec, Heatmap
from viz_core.types import Window
from viz_core.words import say


def show(asked: Question, state: AttributionState) -> None:
    """Maps and profiles of the chosen head. Raises AtlasError."""
    st.subheader(
        say("What attention says and what is used of it"),
        anchor=False,
        help=terms.of("layer", "query", "key", "distance", "cell"),
    )
    config = asked.checkpoint.config
    layer, head = controls.place(results.model(asked.checkpoint).config)
    name = series.name(config.encoding, "", asked.checkpoint.id)
    title = say("{name} · layer {layer}, head {head}", name=name, layer=layer + 1, head=head + 1)
    found, window = _computed(asked, state, (layer, head))
    st.markdown(_sentence(asked, found, head))
    if found.warning:
        st.warning(say("{warning} Choose more.", warning=found.warning))
    side = attention_maps.Side(window, 0, title, config.encoding, config.length, asked.target.reads)
    spec = attribution_map.build(side, found.value[0, head], asked.public)
    _maps(spec, asked)
    export.row(exports.of_question("attribution-map", spec, asked, state), "attrib_maps")
    st.caption(spec.caption)
    curves = distance_profiles.build(
        [
            distance_profiles.Side(
                title, config.encoding, found.attention[0, head], found.by_distance[0, head]
            )
        ],
        asked.public,
    )
    draw.charts(curves, key="attrib_profiles", height=340, across=2)
    leaving = exports.of_question("distance-profiles", curves, asked, state)
    export.row(leaving, "attrib_profiles")
    st.caption(curves.caption)


def _computed(
    asked: Question, state: AttributionState, place: tuple[int, int]
) -> tuple[PatternAttribution, Window]:
    """The attribution of a layer's pattern, and the map of one head. The progress shows."""
    layer, _ = place
    with wait.waiting(wait.wanted(asked, state), "attrib_pattern") as one:
        report = one.watch(say("attributions of layer {layer}", layer=layer + 1))
        found = results.to_pattern(asked, layer, state.steps, report)
        whole = (0, asked.target.reads)
        report = one.watch(say("the map"))
        window = measuring.zoomed(
            asked.checkpoint, [asked.passage], "probability", place, whole, whole, "mean", report
        )
    return found, window


def _sentence(asked: Question, found: PatternAttribution, head: int) -> str:
    """What the layer and the head add, in words."""
    gap, own = found.output - float(found.without[0]), float(found.by_distance[0, head].sum())
    return say(
        "Without this layer's attention {asked} would be {without} instead of {output}: it adds "
        "{gap}, of which this head {own}. The attributions of its heads miss their sum by "
        "{delta:.2g} nats (the convergence delta).",
        asked=asked.words,
        without=nats(float(found.without[0])),
        output=nats(found.output),
        gap=nats(gap, "+"),
        own=nats(own, "+"),
        delta=abs(float(found.delta[0])),
    )


def _maps(spec: FigureSpec, asked: Question) -> None:
    """Both maps with one crosshair; a box drawn on one zooms into both."""
    s = st.session_state
    here = (asked.passage.sha256, asked.target.reads)
    box: Box | None = s.get("attrib_zoom") if s.get("attrib_zoomed") == here else None

    def zoom(panel: int, drawn: Box) -> None:
        s.attrib_zoom, s.attrib_zoomed = drawn, here

    panels = tuple(_cut(p, box) for p in spec.panels if isinstance(p, Heatmap))
    labels = asked.labels[: asked.target.reads]
    draw.maps(
        replace(spec, panels=panels),
        [labels] * len(panels),
        key="attrib_maps",
        linked=True,
        zoomed=[box is not None] * len(panels),
        on_zoom=zoom,
        on_back=lambda panel: s.pop("attrib_zoom", None),
        height=480,
    )


def _cut(panel: Heatmap, box: Box | None) -> Heatmap:
    """The part of a map of a whole text that `box` touches, in whole cells."""
    if box is None:
        return panel
    cuts, spans = [], []
    for a, b in box:
        start, stop = a // panel.cell, -(-b // panel.cell)
        cuts.append(slice(start, stop))
        spans.append((start * panel.cell, min(stop * panel.cell, panel.rows[1])))
    rows, columns = cuts
    return replace(
        panel,
        value=panel.value[rows, columns],
        count=panel.count[rows, columns],
        rows=spans[0],
        columns=spans[1],
        where=attention_maps.ranges(spans[0], spans[1]),
    )
