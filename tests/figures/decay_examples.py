"""An example of each figure of Decay, from arrays whose content is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from viz_core.figures import (
    bucket_edges,
    difference,
    frequency_use,
    head_curves,
    slopes,
    spectra,
    stairs,
)
from viz_core.figures.spec import FigureSpec
from viz_core.types import Curve, Window

LAYERS, HEADS, SIZE, TEXTS, LENGTH = 2, 4, 300, 6, 304
M = 2.0 ** -np.arange(1, HEADS + 1)
PAIRS = TEXTS * np.arange(SIZE, 0, -1)
THETA = 10_000.0 ** (-np.arange(16) / 16)


def head_curves_side(accent: str = "alibi", **change: object) -> head_curves.Side:
    law = np.repeat(-np.outer(M, np.arange(SIZE))[None], LAYERS, axis=0)
    error = np.full_like(law, 0.1)
    values = {"name": accent, "accent": accent, "curve": law + 3.0, "error": error, "law": law}
    values |= {"pairs": PAIRS, "texts": TEXTS, "length": LENGTH}
    return head_curves.Side(**{**values, **change})


def slopes_side(**change: object) -> slopes.Side:
    value = np.repeat(-M[None], LAYERS, axis=0) * np.array([[1.0], [1.1]])
    values = {"name": "ALiBi", "accent": "alibi", "nominal": -M, "value": value}
    values |= {"low": value * 1.05, "high": value * 0.95, "error": 0.05}
    return slopes.Side(**{**values, "texts": TEXTS, "length": LENGTH, **change})


def stairs_side(accent: str = "alibi", nominal: bool = True) -> stairs.Side:
    reach = np.log(10) / M[:, None] * np.array([0.3, 1.0, 2.0])
    measured = np.stack([reach * 1.1] * LAYERS)
    return stairs.Side(accent, accent, measured, reach if nominal else None, TEXTS, LENGTH)


def bucket_edges_side(score: float = 0.8) -> bucket_edges.Side:
    edges = np.array([*range(17), 19, 21, 24, 27, 31, 40, 60, 113])
    curve = -0.3 * np.searchsorted(edges, np.arange(SIZE), side="right").astype(float)
    error = np.full(SIZE, 0.02)
    about = (edges, score, 0.005, TEXTS, LENGTH)
    return bucket_edges.Side("T5 bias", "t5", curve, error, curve - 1.0, *about)


def spectra_side(peak: float = 1.0) -> spectra.Side:
    frequency = np.linspace(0.01, 0.5, 2000)
    at = THETA[1] / (2 * np.pi)
    amplitude = np.stack([h * peak * np.exp(-(((frequency - at) / 0.002) ** 2)) for h in (1, 2)])
    return spectra.Side("RoPE", "rope", frequency, amplitude, THETA, "R² 1.00", TEXTS, LENGTH)


def frequency_use_side() -> frequency_use.Side:
    share = np.full((HEADS, 16), 1 / 16)
    return frequency_use.Side(
        *("RoPE", "rope", share, 1 / 16, THETA, 512, 0.5, 0.5), texts=TEXTS, length=LENGTH
    )


def difference_sides(gain: float = 0.5) -> tuple[difference.Side, difference.Side]:
    """The same head before, and after it gained `gain` nats of log-attention everywhere."""
    count = np.tril(np.full((32, 32), 4, np.int64))
    even = np.where(count > 0, -1.0, np.nan)[None].repeat(HEADS, axis=0).astype(np.float32)
    value = np.repeat(-np.arange(60.0)[None], HEADS, axis=0)
    pairs = 2 * np.arange(60, 0, -1)
    sides = []
    for name, more in (("RoPE", 0.0), ("RoPE, PI s = 4", gain)):
        window = Window(even + np.float32(more), count, (0, 64), (0, 64), 2, "log", 2)
        curve = Curve(value * (1 + more), np.full_like(value, 0.1), pairs, 2, 4)
        sides.append(difference.Side(name, "rope", window, curve, 1))
    return sides[0], sides[1]


EXAMPLES: dict[str, Callable[[], FigureSpec]] = {
    "head-curves": lambda: head_curves.build(
        [head_curves_side(), head_curves_side("rope")], "row fixed effects", "the first 4 keys in"
    ),
    "slopes": lambda: slopes.build(slopes_side()),
    "stairs": lambda: stairs.build(
        [stairs_side(), stairs_side("rope", nominal=False)],
        (0.5, 0.9, 0.99),
        np.array([80.0, 200.0, 280.0]),
        1,
        "the first 4 keys left out",
    ),
    "bucket-edges": lambda: bucket_edges.build([bucket_edges_side()], "layer 1, head 2"),
    "spectra": lambda: spectra.build([spectra_side()], 0, 1, "RoPE's wavelengths"),
    "frequency-use": lambda: frequency_use.build([frequency_use_side()], 0, 1),
    "difference": lambda: difference.build(*difference_sides(), 32, 64, "layer 1, head 2"),
}
