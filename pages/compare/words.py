"""What Compare says about a head: its name, its place, and what is seen in its map."""

from __future__ import annotations

import math

import numpy as np

from pages.compare import wall
from pages.compare.state import SideState
from viz_core import encodings, series, words
from viz_core.catalogue import Checkpoint
from viz_core.survey import Survey
from viz_core.types import SINK
from viz_core.words import say


def name(one: Checkpoint) -> str:
    """What it is called: by its encoding, an upload with its id."""
    return series.name(one.config.encoding, "", one.id)


def title(side: SideState, one: Checkpoint) -> str:
    """The title of the map and the curve of a head."""
    return say("{name} · layer {layer}, head {head}", **_place(side, one))


def sentence(side: SideState, found: Survey, one: Checkpoint) -> str:
    """What is seen in one map."""
    card = encodings.get(one.config.encoding)
    slope = float(found.slopes[side.layer][side.head])
    laws = found.laws[side.layer]
    steps = np.diff(laws[side.head]) if laws is not None else np.zeros(1)
    if steps[0] < 0 and np.allclose(steps, steps[0], rtol=1e-3):  # a straight line down
        return say(
            "**{name}**, layer {layer}, head {head}: log-attention falls by {slope:.4f} nats per "
            "token ({nominal:.4f} by its slope), so it halves every {half:.1f} tokens.",
            slope=-slope,
            nominal=-steps[0],
            half=math.log(2) / -steps[0],
            **_place(side, one),
        )
    curve = found.curves[side.layer].value[side.head]
    summary = say(card.summary).rstrip(".。")
    if words.language() == words.PLAIN:  # others don't tell sentences from clauses by a letter
        summary = f"{summary[0].lower()}{summary[1:]}"
    return say(
        "**{name}**, layer {layer}, head {head}: {summary}; here log-attention moves over "
        "{swing:.1f} nats, with a slope of {slope:+.4f} per token.",
        summary=summary,
        swing=float(curve[1:].max() - curve[1:].min()),
        slope=slope,
        **_place(side, one),
    )


def sink(side: SideState, found: Survey) -> str:
    """How much attention stays on the first keys; "" where that can't be measured."""
    share = float(found.statistics["sink"][side.layer, side.head])
    if not math.isfinite(share):
        return ""
    return say(
        "The first {sink} keys, where a sink would be, hold {share} of a query's attention.",
        sink=SINK,
        share=wall.per_cent(share),
    )


def _place(side: SideState, one: Checkpoint) -> dict[str, str | int]:
    """The fields of messages about one head."""
    return {"name": name(one), "layer": side.layer + 1, "head": side.head + 1}
