"""Everything that a page shows of one checkpoint at one length: all maps and curves, in one go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core import attention, decay
from viz_core import trace as traces
from viz_core.model import Transformer
from viz_core.types import Curve, Kind, Window


@dataclass(frozen=True)
class Survey:
    """Per layer: the map of all heads, their curves, their law (or None), and slopes [head]."""

    windows: tuple[Window, ...]
    curves: tuple[Curve, ...]
    laws: tuple[npt.NDArray[np.float64] | None, ...]
    slopes: tuple[npt.NDArray[np.float64], ...]

    @property
    def bytes(self) -> int:
        """Memory that the arrays take."""
        return sum(w.value.nbytes + w.count.nbytes for w in self.windows) + sum(
            c.value.nbytes + c.error.nbytes for c in self.curves
        )


def survey(
    model: Transformer,
    texts: Sequence[Sequence[int]],
    kind: Kind = "probability",
    pixels: int = 512,
    progress: Callable[[float], None] = lambda done: None,
) -> Survey:
    """Maps of `kind` and curves of all layers over `texts` (token ids, of one length).

    "probability" maps are of the first text alone; the others, and the curves, are means over
    all. `progress(done)` is called with 0 .. 1 between steps and may raise, to cancel.
    Raises LengthError and TextError as `trace.trace` does.
    """
    layers = model.config.layers
    steps = len(texts) * (layers + 1)
    passes, windows = [], list[list[Window]]()
    for t, ids in enumerate(texts):
        progress(t * (layers + 1) / steps)
        one = traces.trace(model, ids)
        passes.append(one)
        maps = []
        for layer in range(layers):
            progress((t * (layers + 1) + layer + 1) / steps)
            if kind == "probability" and t == 0:
                maps.append(attention.window(one, layer, pixels=pixels))
            elif kind != "probability":
                centred = kind == "centred"
                maps.append(attention.log_window(one, layer, pixels=pixels, centred=centred))
        windows.append(maps)
    curves = tuple(decay.by_distance(passes, layer) for layer in range(layers))
    seen = curves[0].value.shape[1]
    progress(1.0)
    return Survey(
        windows=tuple(windows[0])
        if kind == "probability"
        else tuple(attention.mean(column) for column in zip(*windows, strict=True)),
        curves=curves,
        laws=tuple(decay.law(passes, layer, seen) for layer in range(layers)),
        slopes=tuple(decay.slope(passes, layer) for layer in range(layers)),
    )
