"""Models and surveys that sessions share: read-only, bounded, one computation at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Generic, TypeVar

from tokenizers import Tokenizer

from viz_core import attention, catalogue, devices, perplexity, texts
from viz_core.figures import head_wall
from viz_core.figures.spec import Heatmap
from viz_core.model import Transformer
from viz_core.progress import Progress
from viz_core.render import png
from viz_core.survey import Survey, survey
from viz_core.trace import Trace, trace
from viz_core.types import Kind, Sample

T = TypeVar("T")

THUMBNAIL = 80  # pixels on a side, about


class Shelf(Generic[T]):
    """The most recently used values, up to `limit` bytes in all; safe under threads."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self._items: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """The value under `key`, now the most recently used, or None."""
        with self._lock:
            if key not in self._items:
                return None
            self._items.move_to_end(key)
            return self._items[key][0]

    def put(self, key: Hashable, value: T, size: int) -> None:
        """Keeps `value` of `size` bytes; the least recently used go until the limit holds."""
        with self._lock:
            self.held += size - self._items.pop(key, (value, 0))[1]
            self._items[key] = value, size
            while self.held > self.limit and len(self._items) > 1:
                self.held -= self._items.popitem(last=False)[1][1]


# Of the server, not of a session: plain module state, which threads without a session may use too.
surveys: Shelf[Survey] = Shelf(1 << 30)
walls: Shelf[list[bytes]] = Shelf(64 << 20)
measured: Shelf[list[perplexity.Row]] = Shelf(16 << 20)
scores: Shelf[perplexity.Kept] = Shelf(16 << 20)
ROW_BYTES = 1000  # about, of a measured row or the scores behind it
turnstile = threading.Lock()  # one computation at a time: two would be slower, and may not fit


def checkpoints() -> tuple[dict[str, catalogue.Checkpoint], list[str]]:
    """`catalogue.scan()`, read again (and hashed again) only when a file has changed."""
    paths = sorted(catalogue.SHIPPED.glob("*/model.safetensors"))
    return _scanned(tuple((p, p.stat().st_mtime_ns, p.stat().st_size) for p in paths))


@lru_cache(maxsize=1)
def _scanned(
    marks: tuple[tuple[Path, int, int], ...],
) -> tuple[dict[str, catalogue.Checkpoint], list[str]]:
    return catalogue.scan()


@cache
def tokenizer() -> Tokenizer:
    """The tokenizer of the shipped checkpoints."""
    return Tokenizer.from_file(str(catalogue.TOKENIZER))


def model(checkpoint: catalogue.Checkpoint) -> Transformer:
    """The model of `checkpoint` on the best device, loaded once."""
    return _loaded(str(checkpoint.path), checkpoint.sha256)


@lru_cache(maxsize=8)
def _loaded(path: str, sha256: str) -> Transformer:
    return catalogue.find(path).load(devices.best())  # a changed file has another sha256


def surveyed(
    checkpoint: catalogue.Checkpoint,
    passages: list[texts.Passage],
    kind: Kind,
    progress: Callable[[float], None],
) -> Survey:
    """The survey of `checkpoint` over `passages`, from the shelf or computed now.

    Computing waits its turn; `progress` may raise (a control was changed), which cancels.
    """
    key = (checkpoint.sha256, tuple(p.sha256 for p in passages), kind)
    found = surveys.get(key)
    if found is not None:
        return found

    def tracer(ids: Sequence[int], here: Progress) -> Trace:
        return trace(model(checkpoint), ids, here)

    with turnstile:
        found = surveys.get(key)  # computed by another session while this one waited
        if found is None:
            found = survey(tracer, [p.ids for p in passages], kind, progress=progress)
            surveys.put(key, found, found.bytes)
    return found


def losses(
    checkpoint: catalogue.Checkpoint,
    setting: str,
    samples: Sequence[Sample],
    lengths: Sequence[int],
    progress: Callable[[float], None],
) -> list[perplexity.Row]:
    """Losses of `checkpoint` under `setting`, fixed targets, from the shelf or computed now.

    Computing waits its turn; `progress` may raise, which cancels. Raises as `perplexity.measure`.
    """
    same = (checkpoint.sha256, tuple(s.sha256 for s in samples), tuple(lengths))
    found = measured.get((same, setting))
    if found is not None:
        return found
    with turnstile:
        found = measured.get((same, setting))
        if found is None:
            kept = scores.get(same)
            kept = {} if kept is None else kept  # as trained it is measured once for all settings
            found = perplexity.measure(
                model(checkpoint),
                samples,
                lengths,
                setting=setting,
                progress=progress,
                kept=kept,
                identity=checkpoint.sha256,
            )
            scores.put(same, kept, ROW_BYTES * len(kept))
            measured.put((same, setting), found, ROW_BYTES * len(found))
    return found


def thumbnails(
    key: Hashable, found: Survey, encoding: str, trained: int, linear: bool
) -> list[bytes]:
    """The wall of `found`, which `key` identifies: a PNG per layer and head, in that order."""
    images = walls.get((key, linear))
    if images is None:
        factor = max(1, round(max(found.windows[0].count.shape) / THUMBNAIL))
        small = [attention.coarser(w, factor) for w in found.windows]
        spec = head_wall.build(small, encoding, trained, linear)
        images = [png.thumbnail(p) for p in spec.panels if isinstance(p, Heatmap)]
        walls.put((key, linear), images, sum(map(len, images)))
    return images
