"""The maps of checkpoints: whole layers as fine as a page prints, and what Compare shows.

What Compare has computed is found under its keys in the store, and what is computed here is found
by Compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import numpy.typing as npt
import torch

from viz_core import attention, decay, devices, kernels, keys, packing, survey, variants
from viz_core.catalogue import Checkpoint
from viz_core.plates._gathered import store
from viz_core.progress import Progress
from viz_core.store import Option, RunKey
from viz_core.survey import Survey
from viz_core.texts import Passage
from viz_core.trace import Trace, check_length, trace
from viz_core.types import SINK, Curve, Kind, Pooling, Range, Window

WORDS = {
    "log": "geometric mean of attention over the texts",
    "centred": "mean over the texts of log-attention less each row's mean",
    "probability": "attention in one text",
}
PIXELS = 512  # on a side of a map, at most, as on the screen

Array = npt.NDArray[np.float64]


def layers(
    checkpoint: Checkpoint,
    some: Sequence[Passage],
    kind: Kind,
    progress: Progress,
    pixels: int = PIXELS,
    layer: int | None = None,
    pooling: Pooling = "mean",
    setting: str = "",
) -> list[Window]:
    """The whole map of each layer, or of `layer` alone, at most `pixels` cells wide: means over
    the texts, or of the first text alone for "probability"."""
    some = some[:1] if kind == "probability" else some
    options = {"kind": kind, "pixels": pixels, "layer": layer, "pooling": pooling}
    key = _key(checkpoint, some, "plate", setting, **options)
    entry = store().get(key)
    if entry is not None:
        one = packing.unpack_window(entry)
        pairs = zip(entry.arrays["value"], entry.arrays["count"], strict=True)
        return [replace(one, value=value, count=count) for value, count in pairs]
    count = checkpoint.config.layers
    wanted = range(count) if layer is None else range(layer, layer + 1)
    by_layer = [list[Window]() for _ in wanted]
    for traced in _traced(checkpoint, some, wanted.stop, setting, progress):
        for place, windows in zip(wanted, by_layer, strict=True):
            if kind == "probability":
                found = attention.window(traced, place, pixels=pixels, pooling=pooling)
            else:
                centred = kind == "centred"
                found = attention.log_window(traced, place, pixels=pixels, centred=centred)
            windows.append(found)
    every = [w[0] if kind == "probability" else attention.mean(w) for w in by_layer]
    arrays, about = packing.pack_window(every[0])
    arrays |= {name: np.stack([getattr(w, name) for w in every]) for name in ("value", "count")}
    store().put(key, arrays, about)
    return every


def whole(
    checkpoint: Checkpoint,
    some: Sequence[Passage],
    kind: Kind,
    layer: int,
    progress: Progress,
    pooling: Pooling = "mean",
    setting: str = "",
) -> Window:
    """The whole map of one layer, as fine as Compare's: from its survey, or computed alone."""
    entry = _survey(checkpoint, some, kind, setting, pooling)
    if entry is not None:
        return entry.windows[layer]
    (found,) = layers(checkpoint, some, kind, progress, PIXELS, layer, pooling, setting)
    return found


def curve(
    checkpoint: Checkpoint,
    some: Sequence[Passage],
    layer: int,
    progress: Progress,
    setting: str = "",
) -> tuple[Curve, Array | None]:
    """(curves, law or None) of one layer's heads: from Compare's survey, or computed alone."""
    entry = _survey(checkpoint, some, "log", setting)
    if entry is not None:
        return entry.curves[layer], entry.laws[layer]
    key = _key(checkpoint, some, "curve", setting, layer=layer)
    kept = store().get(key)
    if kept is not None:
        a = kept.arrays
        found = Curve(a["curve"], a["error"], a["pairs"], len(some), SINK, a.get("ahead"))
        return found, a.get("law")
    parts = []
    for traced in _traced(checkpoint, some, layer + 1, setting, progress):
        parts.append(decay.part(traced, layer))
    found = decay.by_distance(parts)
    law = decay.law(parts, traced.scores[layer], found.value.shape[1])
    arrays = {"curve": found.value, "error": found.error, "pairs": found.pairs}
    arrays |= {n: v for n, v in (("law", law), ("ahead", found.ahead)) if v is not None}
    store().put(key, arrays, {})
    return found, law


def zoomed(
    checkpoint: Checkpoint,
    some: Sequence[Passage],
    kind: Kind,
    place: tuple[int, int],
    box: tuple[Range, Range],
    progress: Progress,
    pooling: Pooling = "mean",
    setting: str = "",
) -> Window:
    """A part of the map of one (layer, head), both from 0: queries and keys of `box`."""
    rows, columns = box
    key = keys.window(checkpoint, some, kind, place, box, pooling, setting)
    entry = store().get(key)
    if entry is not None:
        return packing.unpack_window(entry)
    tracer, ids = _tracer(checkpoint, setting, len(some[0].ids)), [p.ids for p in some]
    found = survey.zoom(tracer, ids, kind, place, rows, columns, pooling=pooling, progress=progress)
    store().put(key, *packing.pack_window(found))
    return found


def _survey(
    checkpoint: Checkpoint,
    some: Sequence[Passage],
    kind: Kind,
    setting: str,
    pooling: Pooling = "mean",
) -> Survey | None:
    """What Compare or Decay has computed of the same texts, if it has."""
    entry = store().get(keys.survey(checkpoint, some, kind, pooling, setting))
    return None if entry is None else packing.unpack(entry)


def _key(
    checkpoint: Checkpoint, some: Sequence[Passage], what: str, setting: str, **options: Option
) -> RunKey:
    """Of what is kept for plates alone."""
    shas, length, rest = tuple(p.sha256 for p in some), len(some[0].ids), tuple(options.items())
    return RunKey(checkpoint.sha256, setting, shas, length, keys.DTYPE, what, rest)


def _tracer(checkpoint: Checkpoint, setting: str, length: int) -> survey.Tracer:
    model = variants.vary(checkpoint.load(devices.best()), setting, length)
    return lambda ids, progress: trace(model, ids, progress)


@torch.no_grad()
def _traced(
    checkpoint: Checkpoint, some: Sequence[Passage], layers: int, setting: str, progress: Progress
) -> Iterator[Trace]:
    """A trace of each text that ends after `layers` layers: the others are never computed."""
    length = len(some[0].ids)
    model = variants.vary(checkpoint.load(devices.best()), setting, length)
    check_length(model, length)
    for i, passage in enumerate(some):
        tokens = torch.tensor(passage.ids, device=model.device)
        found = []
        for layer, scores in islice(model.passes(tokens, kernels.ignore), layers):
            found.append((layer, scores))
            progress((i + len(found) / layers) / len(some))
        yield Trace(tuple(layer for layer, _ in found), tuple(scores for _, scores in found))
