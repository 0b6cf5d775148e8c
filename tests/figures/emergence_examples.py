"""Examples of what emerges in training, from numbers whose shape is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from viz_core.figures import emergence
from viz_core.figures.emergence import Training
from viz_core.figures.spec import FigureSpec

STEPS = np.array([0.0, 10.0, 100.0, 1000.0])
LAYERS, HEADS = 2, 4
NONE = np.full((len(STEPS), LAYERS * HEADS), np.nan)


def training(encoding: str = "rope", **change: object) -> Training:
    """RoPE's ripples grow tenfold at each step; ALiBi's slopes stay as they are set, but for head 1
    of layer 1, which loses half of its slope in the middle."""
    heads = np.arange(1, LAYERS * HEADS + 1)
    grown = 10.0 ** np.arange(-2, 2)[:, None] * (1 + heads / 10)
    rope = encoding == "rope"
    slope, even = NONE, np.ones_like(NONE)
    if not rope:
        slope = even.copy()
        slope[1, 0] = 0.5
    values = {
        "slope": slope,
        "slope_set": np.where(np.isnan(slope), np.nan, 1.0),
        "reach": even * 2.0**heads,
        "reach_even": even * 300.0,
        "reach_nominal": NONE if rope else even * 2.0**heads,
        "ripple": even * (0.9 if rope else 0.01),
        "ripple_even": even * 0.1,
        "swing": grown if rope else even * 0.02,
        "swing_noise": even * 0.02,
        "sink": even * 0.05,
        "sink_even": even * 0.04,
    }
    loss = np.array([8.3, 7.0, 5.0, 4.0])
    places = [(layer, head) for layer in (1, 2) for head in range(1, HEADS + 1)]
    made = Training(
        *({"rope": "RoPE", "alibi": "ALiBi"}[encoding], encoding, STEPS, STEPS * 4096),
        *(places, values, 8, 512, loss, loss - 0.1, loss + 0.1, 42),
    )
    return replace(made, **change)


def example() -> FigureSpec:
    return emergence.build([training("alibi"), training("rope")])


EXAMPLES: dict[str, Callable[[], FigureSpec]] = {"emergence": example}
