"""Models and results that sessions share: read-only, bounded, one computation at a time.

Results stand on a shelf in memory and, unless of someone's own text, in the store on disk, where
other processes find them too. Traces stay on the device for a while: another head or layer of the
same text, or a part of its map, then needs no second forward pass.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from tokenizers import Tokenizer

from pages._kit.shelf import Shelf
from viz_core import (
    attention,
    catalogue,
    devices,
    journal,
    packing,
    portraits,
    survey,
    texts,
    variants,
)
from viz_core.errors import LengthError
from viz_core.figures import head_wall
from viz_core.figures.spec import Heatmap
from viz_core.model import Transformer
from viz_core.progress import Progress
from viz_core.render import png
from viz_core.signatures.portrait import Portrait
from viz_core.store import Entry, RunKey, Store
from viz_core.survey import Survey
from viz_core.trace import Trace, trace
from viz_core.types import Kind, Pooling, Range, Window

T = TypeVar("T")

THUMBNAIL = 80  # pixels on a side, about

# Of the server, not of a session: plain module state, which threads without a session may use too.
surveys: Shelf[Survey] = Shelf(1 << 30)
windows: Shelf[Window] = Shelf(256 << 20)
portrayals: Shelf[Portrait] = Shelf(256 << 20)
walls: Shelf[list[bytes]] = Shelf(64 << 20)
STORE_BYTES = 4 << 30
PATIENCE = 0.2  # seconds between looks of one that waits
turnstile = threading.Lock()  # one computation at a time: two would be slower, and may not fit


@cache
def traces() -> Shelf[Trace]:
    """Traces on the device, up to an eighth of the memory that is free when the first is made."""
    return Shelf(devices.free_bytes(devices.best()) // 8)


@cache
def store() -> Store:
    """Results on disk, shared with other processes."""
    return Store(journal.store_folder(), STORE_BYTES)


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
    progress: Progress,
    pooling: Pooling = "mean",
    setting: str = "",
) -> Survey:
    """The survey of `checkpoint` over `passages`, from the shelf, the store, or computed now.

    Computing waits its turn; `progress` may raise (a control was changed), which cancels. Raises
    UsageError for a `setting` (see `variants`) that is none of this checkpoint's.
    """
    key = _key(checkpoint, passages, "survey", setting, kind=kind, pooling=pooling)

    def compute() -> Survey:
        ids = [p.ids for p in passages]
        tracer = _tracer(checkpoint, passages, setting)
        return survey.survey(tracer, ids, kind, pooling=pooling, progress=progress)

    return _found(key, passages, surveys, compute, packing.pack, packing.unpack, progress)


def zoomed(
    checkpoint: catalogue.Checkpoint,
    passages: list[texts.Passage],
    kind: Kind,
    place: tuple[int, int],
    rows: Range,
    columns: Range,
    pooling: Pooling,
    progress: Progress,
) -> Window:
    """A part of the map of one (layer, head), as `survey.zoom`; kept and cancelled as above."""
    where = {"layer": place[0], "head": place[1], "rows": rows, "columns": columns}
    key = _key(checkpoint, passages, "window", "", kind=kind, pooling=pooling, **where)

    def compute() -> Window:
        ids = [p.ids for p in passages]
        tracer = _tracer(checkpoint, passages, "")
        return survey.zoom(
            tracer, ids, kind, place, rows, columns, pooling=pooling, progress=progress
        )

    unpack = packing.unpack_window
    return _found(key, passages, windows, compute, packing.pack_window, unpack, progress)


def portrayed(
    checkpoint: catalogue.Checkpoint,
    passages: list[texts.Passage],
    setting: str,
    progress: Progress,
) -> Portrait:
    """The portrait of `checkpoint` under `setting` over `passages`; as `surveyed`."""
    key = _key(checkpoint, passages, "portrait", setting)

    def compute() -> Portrait:
        varied = variants.vary(model(checkpoint), setting, len(passages[0].ids))
        ids = [p.ids for p in passages]
        return portraits.measure(varied, ids, tokenizer(), setting, progress)

    unpack = packing.unpack_portrait
    return _found(key, passages, portrayals, compute, packing.pack_portrait, unpack, progress)


def _key(
    checkpoint: catalogue.Checkpoint,
    passages: list[texts.Passage],
    what: str,
    setting: str,
    **options: Any,
) -> RunKey:
    shas, length = tuple(p.sha256 for p in passages), len(passages[0].ids)
    rest = tuple(options.items())
    return RunKey(checkpoint.sha256, setting, shas, length, "float32", what, rest)


@contextmanager
def turn(progress: Progress) -> Iterator[None]:
    """The turnstile, once it is free; who waits can still give up, through `progress`."""
    while not turnstile.acquire(timeout=PATIENCE):
        progress(0.0)
    try:
        yield
    finally:
        turnstile.release()


def _found(
    key: RunKey,
    passages: list[texts.Passage],
    shelf: Shelf[T],
    compute: Callable[[], T],
    pack: Callable[[T], packing.Packed],
    unpack: Callable[[Entry], T],
    progress: Progress,
) -> T:
    found = shelf.get(key)
    if found is not None:
        return found
    with turn(progress):
        found = shelf.get(key)  # computed by another session while this one waited
        if found is not None:
            return found
        keep = not any(p.own for p in passages)
        entry = store().get(key) if keep else None
        if entry is None:
            found = compute()
            arrays, about = pack(found)
            if keep:
                store().put(key, arrays, about)
        else:
            found = unpack(entry)
            arrays = entry.arrays
        shelf.put(key, found, sum(a.nbytes for a in arrays.values()))
        return found


def _tracer(
    checkpoint: catalogue.Checkpoint, passages: list[texts.Passage], setting: str
) -> survey.Tracer:
    """Traces of `passages` from the shelf, or made now."""
    names = {tuple(p.ids): p.sha256 for p in passages}

    def tracer(ids: Sequence[int], progress: Progress) -> Trace:
        key = checkpoint.sha256, setting, names[tuple(ids)]
        found = traces().get(key)
        if found is None:
            loaded = variants.vary(model(checkpoint), setting, len(ids))
            try:
                found = trace(loaded, ids, progress)
            except LengthError:  # what is kept may take the memory that this one needs
                if not traces().held:
                    raise
                traces().clear()
                found = trace(loaded, ids, progress)
            traces().put(key, found, found.bytes)
        return found

    return tracer


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
