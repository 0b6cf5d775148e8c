"""The wall: a small map of every layer and head of one checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.figures.attention_maps import Side
from viz_core.figures.attention_maps import build as build_maps
from viz_core.figures.spec import FigureCard, FigureSpec
from viz_core.types import Window
from viz_core.words import mark, say


def title(layer: int, head: int) -> str:
    """What a head's panel is called, by its place from 0."""
    return say("{name}, head {head}", name=say("layer {layer}", layer=layer + 1), head=head + 1)


def build(
    windows: Sequence[Window], encoding: str, trained_length: int, linear: bool = False
) -> FigureSpec:
    """One panel per layer (in order) and head, all on one scale; `windows` holds one per layer."""
    sides = [
        Side(w, h, title(layer, h), encoding, trained_length, w.rows[1])
        for layer, w in enumerate(windows)
        for h in range(len(w.value))
    ]
    return build_maps(sides, linear)


FIGURE = FigureCard("head-wall", mark("All heads"), "wall", build)
