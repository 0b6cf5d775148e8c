"""Examples of the figures that are made for papers, from arrays whose content is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from viz_core.figures import decay_grid, staircase_ripples
from viz_core.figures.spec import FigureSpec
from viz_core.types import Curve, Window

HEADS, N = 4, 64


def stairs_side(encoding: str = "alibi", **change: object) -> staircase_ripples.Side:
    cells = N // 2
    value = np.full((HEADS, cells, cells), -3.0, np.float32)
    count = np.tril(np.full((cells, cells), 4))
    window = Window(value, count, (0, N), (0, N), 2, "log", 7)
    law = -np.outer(2.0 ** -np.arange(1, HEADS + 1), np.arange(N - 4))
    pairs = np.arange(N - 4, 0, -1)
    made = staircase_ripples.Side(
        name={"alibi": "ALiBi", "rope": "RoPE"}[encoding],
        encoding=encoding,
        trained_length=N,
        length=N,
        layer=3,
        shown=(1, 3),
        window=window,
        curve=Curve(law + 5.0, np.full_like(law, 0.1), pairs, 7, 4),
        law=law,
        reach=np.array([2.0, 4.0, 8.0, 16.0]),
        amplitude=np.outer(np.arange(HEADS), [0.0, 1.0, 0.0]),
        ripple=np.array([[0.1, 0.2, 0.5], [0.9, 0.3, 0.005], [0.1, 0.2, 0.5], [0.95, 0.2, 0.01]]),
    )
    return replace(made, **change)


def staircase(*sides: staircase_ripples.Side) -> FigureSpec:
    reach = staircase_ripples.Reach(
        0.9,
        np.array([2.0, 4.0, 8.0, 15.0]),
        57.6,
        ((1.96, 1.9, 2.0, 0.001), (2.0, 1.8, 2.2, 0.02), (1.0, 0.8, 1.2, 0.4)),
    )
    pair = sides or (stairs_side(), stairs_side("rope"))
    return staircase_ripples.build((pair[0], pair[1]), reach, np.array([0.1, 0.2, 0.4]), [5, 900.0])


LAYERS, GRID_HEADS, D = 2, 3, 40


def grid_side(name: str = "ALiBi", encoding: str = "alibi", **change: object) -> decay_grid.Side:
    law = np.tile(-np.outer(2.0 ** -np.arange(1, GRID_HEADS + 1), np.arange(D)), (LAYERS, 1, 1))
    pairs = np.arange(D, 0, -1)
    made = decay_grid.Side(name, encoding, (1, 3), law + 7.0, law, pairs, 64, 42, 4)
    return replace(made, **change)


def grid(*sides: decay_grid.Side) -> FigureSpec:
    return decay_grid.build(sides or (grid_side(), grid_side("RoPE", "rope")))


EXAMPLES: dict[str, Callable[[], FigureSpec]] = {"staircase-ripples": staircase, "decay-grid": grid}
