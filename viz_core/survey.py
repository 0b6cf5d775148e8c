"""Everything that a page shows of one checkpoint at one length: all maps and curves, in one go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viz_core import attention, decay, glance
from viz_core.progress import Progress, ignore, within
from viz_core.trace import Trace
from viz_core.types import Curve, Kind, Pooling, Range, Window

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Survey:
    """Per layer: the map of all heads, their curves, their law (or None), and slopes [head].

    `statistics` [layer, head] are those of `glance`: "reach", "sink" and "entropy" of the first
    text, "ripple" of the curves.
    """

    windows: tuple[Window, ...]
    curves: tuple[Curve, ...]
    laws: tuple[Array | None, ...]
    slopes: tuple[Array, ...]
    statistics: dict[str, Array]


Tracer = Callable[[Sequence[int], Progress], Trace]
FORWARD = {"probability": 0.55, "log": 0.95, "centred": 0.95}  # its share of the time, about


def survey(
    tracer: Tracer,
    texts: Sequence[Sequence[int]],
    kind: Kind = "probability",
    pixels: int = 512,
    pooling: Pooling = "mean",
    progress: Progress = ignore,
) -> Survey:
    """Maps of `kind` and curves of all layers over `texts` (token ids, of one length).

    `tracer(ids, progress)` makes a text's trace, or has kept it; one at a time is held here.
    "probability" maps are of the first text alone, pooled by `pooling`; the others, and the
    curves, are means over all texts. `progress` may raise, to cancel. Raises LengthError and
    TextError as `trace.trace` does.
    """
    windows, parts = list[list[Window]](), list[list[decay.Part]]()
    glances = list[dict[str, Array]]()
    progress(0.0)
    for t, ids in enumerate(texts):
        here = within(progress, t / len(texts), (t + 1) / len(texts))
        mapped = t == 0 or kind != "probability"
        share = FORWARD[kind] if mapped else 1.0
        one = tracer(ids, within(here, 0.0, share))
        layers = range(len(one.layers))
        parts.append([decay.part(one, layer) for layer in layers])
        if t == 0:
            glances = [glance.rows(one, layer) for layer in layers]
        if mapped:
            windows.append([])
        for layer in layers if mapped else ():
            first = share + (1 - share) * layer / len(layers)
            step = within(here, first, first + (1 - share) / len(layers))
            if kind == "probability":
                w = attention.window(one, layer, pixels=pixels, pooling=pooling, progress=step)
            else:
                w = attention.log_window(one, layer, pixels=pixels, centred=kind == "centred")
            windows[-1].append(w)
            step(1.0)
    by_layer = list(zip(*parts, strict=True))
    curves = tuple(decay.by_distance(some) for some in by_layer)
    progress(1.0)
    return Survey(
        windows=tuple(windows[0])
        if kind == "probability"
        else tuple(attention.mean(column) for column in zip(*windows, strict=True)),
        curves=curves,
        laws=tuple(
            decay.law(some, how, c.value.shape[1])
            for some, how, c in zip(by_layer, one.scores, curves, strict=True)
        ),
        slopes=tuple(decay.slope(some) for some in by_layer),
        statistics={
            **{name: np.stack([g[name] for g in glances]) for name in glances[0]},
            "ripple": np.stack([glance.ripple(c) for c in curves]),
        },
    )


def zoom(
    tracer: Tracer,
    texts: Sequence[Sequence[int]],
    kind: Kind,
    place: tuple[int, int],
    rows: Range,
    columns: Range,
    pixels: int = 512,
    pooling: Pooling = "mean",
    progress: Progress = ignore,
) -> Window:
    """The map of one layer and head, `place`, on queries `rows` and keys `columns`.

    A Window of that one head, of the same kinds as a survey's and as fine as `pixels` allows.
    Raises as `survey` does, and LengthError for ranges outside the texts.
    """
    layer, head = place[0], slice(place[1], place[1] + 1)
    windows = []
    for t, ids in enumerate(texts[:1] if kind == "probability" else texts):
        here = within(progress, t / len(texts), (t + 1) / len(texts))
        one = tracer(ids, within(here, 0.0, FORWARD[kind]))
        late = within(here, FORWARD[kind], 1.0)
        if kind == "probability":
            return attention.window(one, layer, rows, columns, pixels, head, pooling, late)
        centred = kind == "centred"
        windows.append(
            attention.log_window(one, layer, rows, columns, pixels, head, centred=centred)
        )
    return attention.mean(windows)
