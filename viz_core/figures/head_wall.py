"""The wall: a small map of every layer and head of one checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.figures.attention_maps import Side
from viz_core.figures.attention_maps import build as build_maps
from viz_core.figures.spec import FigureCard, FigureSpec
from viz_core.types import Window


def build(
    windows: Sequence[Window], encoding: str, trained_length: int, linear: bool = False
) -> FigureSpec:
    """One panel per layer (in order) and head, all on one scale; `windows` holds one per layer."""
    sides = [
        Side(w, h, f"layer {layer + 1}, head {h + 1}", encoding, trained_length, w.rows[1])
        for layer, w in enumerate(windows)
        for h in range(len(w.value))
    ]
    return build_maps(sides, linear)


FIGURE = FigureCard("head-wall", "All heads", "wall", build)
