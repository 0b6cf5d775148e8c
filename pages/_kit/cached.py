"""Models and results that sessions share: read-only, bounded, one computation at a time.

Results stand on a shelf in memory and, unless of someone's own text, in the store on disk, where
other processes find them too. Traces stay on the device for a while: another head or layer of the
same text, or a part of its map, then needs no second forward pass.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeVar

from tokenizers import Tokenizer

from pages._kit import allowed, metrics, uploads_known
from pages._kit.line import Line
from pages._kit.shelf import Shelf
from pages._kit.waiting import Report
from viz_core import (
    attention,
    catalogue,
    devices,
    journal,
    keys,
    packing,
    portraits,
    readers,
    survey,
    texts,
    variants,
)
from viz_core.errors import AtlasError, LengthError
from viz_core.figures import head_wall
from viz_core.figures.spec import Heatmap
from viz_core.progress import Progress
from viz_core.readers.description import Finding
from viz_core.render import png
from viz_core.signatures.portrait import Portrait
from viz_core.store import Arrays, Entry, RunKey, Store
from viz_core.subject import Subject
from viz_core.survey import Survey
from viz_core.trace import Trace, trace
from viz_core.types import Kind, Pooling, Range, Window
from viz_core.words import LANGUAGES, language, say, speaking

T = TypeVar("T")
log = logging.getLogger("atlas")

THUMBNAIL = 80  # pixels on a side, about, of a head on the wall
WALL = 2_000_000  # pixels of a whole wall: walls of many heads have smaller pictures

# Of the server, not of a session: plain module state, which threads without a session may use too.
surveys: Shelf[Survey] = Shelf(1 << 30)
windows: Shelf[Window] = Shelf(256 << 20)
portrayals: Shelf[Portrait] = Shelf(256 << 20)
walls: Shelf[list[bytes]] = Shelf(64 << 20)
tokenizers: Shelf[Tokenizer] = Shelf(32)  # so many
audits: Shelf[tuple[Finding, ...]] = Shelf(256)  # so many
STORE_BYTES = 4 << 30
FLOAT = 4  # bytes
# One computation at a time: models and traces lie on one device, `devices.best()`. Another GPU is
# for another server on the same store.
line = Line()
loading = threading.Lock()  # one model at a time: two at once may not fit
metrics.waiting.set_function(lambda: line.length)


@cache
def traces() -> Shelf[Trace]:
    """Traces on the device, up to an eighth of the memory that is free when the first is made."""
    return Shelf(devices.free_bytes(devices.best()) // 8)


@cache
def store() -> Store:
    """Results on disk, shared with other processes."""
    return Store(journal.store_folder(), STORE_BYTES)


@cache
def models() -> Shelf[Subject]:
    """Models on the device, up to a quarter of the memory that is free when the first is made."""
    return Shelf(devices.free_bytes(devices.best()) // 4)


def checkpoints() -> tuple[dict[str, catalogue.Checkpoint], list[str]]:
    """(what this session may open by id, a sentence for all that can't be read).

    The shipped ones come first, then uploads.
    """
    found, damaged = shipped()
    try:
        return found | uploads_known.checkpoints(), damaged
    except AtlasError as error:  # the server's limits are wrong: what is shipped needs none
        return found, [*damaged, str(error)]


def shipped() -> tuple[dict[str, catalogue.Checkpoint], list[str]]:
    """`catalogue.scan()`, read again (and hashed again) only when a file has changed."""
    paths = sorted(catalogue.SHIPPED.glob("*/model.safetensors"))
    marks = tuple((p, p.stat().st_mtime_ns, p.stat().st_size) for p in paths)
    return _scanned(marks, language())


@lru_cache(maxsize=len(LANGUAGES))
def _scanned(
    marks: tuple[tuple[Path, int, int], ...], spoken: str
) -> tuple[dict[str, catalogue.Checkpoint], list[str]]:
    return catalogue.scan()


def tokenizer(checkpoint: catalogue.Checkpoint) -> Tokenizer:
    """The tokenizer of `checkpoint`; one object for all that share it. Raises AtlasError."""
    key = _there(checkpoint).sha256
    found = tokenizers.get(key)
    if found is None:
        found = checkpoint.tokenizer()
        tokenizers.put(key, found, 1)
    return found


def model(checkpoint: catalogue.Checkpoint) -> Subject:
    """The model of `checkpoint` on the best device, loaded once.

    Raises AtlasError where it was removed or takes more memory than is free, DamagedCheckpoint for
    weights that can't be used.
    """
    key = _there(checkpoint).sha256  # of its files and of the answers about them
    with loading:
        found = models().get(key)
        if found is None:
            found = _loaded(checkpoint)
            models().put(key, found, FLOAT * checkpoint.description.weights)
        return found


def audited(checkpoint: catalogue.Checkpoint) -> tuple[Finding, ...]:
    """All findings about `checkpoint`, those too that need its weights. Raises as `model` does."""
    key = _there(checkpoint).sha256, language()  # findings are words
    found = audits.get(key)
    if found is None:
        found = readers.audit(model(checkpoint), checkpoint.description)
        audits.put(key, found, 1)
    return found


def _loaded(checkpoint: catalogue.Checkpoint) -> Subject:
    """The model, where there is room for it: once as it lies on disk, once in float32."""
    need, place = 2 * FLOAT * checkpoint.description.weights, devices.best()
    if need > devices.free_bytes(place):
        models().clear()
        traces().clear()
    if need > (free := devices.free_bytes(place)):
        raise AtlasError(
            say(
                "Expected {need:.1f} GiB of memory for the weights of {id}; {free:.1f} GiB are "
                "free, so choose a smaller checkpoint, or a larger machine.",
                need=need / 2**30,
                id=checkpoint.id,
                free=free / 2**30,
            )
        )
    return checkpoint.load(place)


def _there(checkpoint: catalogue.Checkpoint) -> catalogue.Checkpoint:
    """`checkpoint`, if its files are still there."""
    if not checkpoint.path.exists():
        raise AtlasError(
            say(
                "Expected the files of {id}; they were removed or have expired, so upload them "
                "again, or choose another checkpoint.",
                id=checkpoint.id,
            )
        )
    return checkpoint


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
    key = keys.survey(checkpoint, passages, kind, pooling, setting)

    def compute() -> Survey:
        ids = [p.ids for p in passages]
        tracer = _tracer(checkpoint, passages, setting)
        return survey.survey(tracer, ids, kind, pooling=pooling, progress=progress)

    return recalled(key, passages, surveys, compute, packing.pack, packing.unpack, progress)


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
    key = keys.window(checkpoint, passages, kind, place, (rows, columns), pooling)

    def compute() -> Window:
        ids = [p.ids for p in passages]
        tracer = _tracer(checkpoint, passages, "")
        return survey.zoom(
            tracer, ids, kind, place, rows, columns, pooling=pooling, progress=progress
        )

    unpack = packing.unpack_window
    return recalled(key, passages, windows, compute, packing.pack_window, unpack, progress)


def portrayed(
    checkpoint: catalogue.Checkpoint,
    passages: list[texts.Passage],
    setting: str,
    progress: Progress,
) -> Portrait:
    """The portrait of `checkpoint` under `setting` over `passages`; as `surveyed`."""
    key = keys.portrait(checkpoint, passages, setting)

    def compute() -> Portrait:
        varied = variants.vary(model(checkpoint), setting, len(passages[0].ids))
        allowed.check_memory(varied, len(passages[0].ids))
        ids = [p.ids for p in passages]
        return portraits.measure(varied, ids, tokenizer(checkpoint), setting, progress)

    unpack = packing.unpack_portrait
    return recalled(key, passages, portrayals, compute, packing.pack_portrait, unpack, progress)


@contextmanager
def turn(progress: Progress) -> Iterator[None]:
    """A place at the device, in the order in which people came; who waits can give up.

    `progress` hears how many are before, if it is a `waiting.Report`; else that nothing is done.
    """

    def told(before: int) -> None:
        if isinstance(progress, Report):
            progress.stands(before)
        else:
            progress(0.0)

    with line.turn(told):
        yield


def computed(what: str, compute: Callable[[], T]) -> T:
    """`compute()`, counted as `what`; once more without all that is kept on the device, where its
    memory ran out. For who has a `turn`. Raises AtlasError where it doesn't do then either."""

    def make_room() -> None:
        traces().clear()
        models().clear()

    with metrics.counted(what):
        return allowed.fitting(compute, make_room)


def recalled(
    key: RunKey,
    passages: list[texts.Passage],
    shelf: Shelf[T],
    compute: Callable[[], T],
    pack: Callable[[T], packing.Packed],
    unpack: Callable[[Entry], T],
    progress: Progress,
) -> T:
    """What `key` names: from `shelf`, from the store, or computed now, in turn, and kept in both.

    Of someone's own text nothing goes to the store. `progress` is told of nothing but the wait.
    Raises LengthError for what is to be computed and is more than one request may have.
    """
    own = any(p.own for p in passages)

    def kept() -> T | None:
        found = shelf.get(key)
        if found is not None:
            metrics.found.labels("memory").inc()
            return found
        entry = None if own else store().get(key)
        if entry is not None:
            with suppress(KeyError, TypeError, ValueError):  # as another version arranged it
                found = unpack(entry)
                shelf.put(key, found, _size(entry.arrays))
                metrics.found.labels("store").inc()
        return found

    found = kept()  # before the line: what is there takes nothing of the device
    if found is not None:
        return found
    allowed.check_length(len(passages[0].ids))
    with turn(progress):
        found = kept()  # computed by another session, or another server, while this one waited
        if found is None:
            found = computed(key.what, compute)
            arrays, about = pack(found)
            shelf.put(key, found, _size(arrays))
            if not own and not store().put(key, arrays, about):
                with speaking("en"):  # the log's own language
                    log.warning(store().trouble)
        return found


def _size(arrays: Arrays) -> int:
    return sum(a.nbytes for a in arrays.values())


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

            def passed() -> Trace:
                allowed.check_memory(loaded, len(ids))
                return trace(loaded, ids, progress)

            try:
                found = passed()
            except LengthError:  # what is kept may take the memory that this one needs
                if not traces().held:
                    raise
                traces().clear()
                found = passed()
            traces().put(key, found, found.bytes)
        return found

    return tracer


def thumbnails(
    key: Hashable, found: Survey, encoding: str, trained: int, linear: bool
) -> list[bytes]:
    """The wall of `found`, which `key` identifies: a PNG per layer and head, in that order."""
    images = walls.get((key, linear))
    if images is None:
        heads = sum(len(w.value) for w in found.windows)
        side = min(THUMBNAIL, (WALL / heads) ** 0.5)
        factor = max(1, round(max(found.windows[0].count.shape) / side))
        small = [attention.coarser(w, factor) for w in found.windows]
        spec = head_wall.build(small, encoding, trained, linear)
        images = [png.thumbnail(p) for p in spec.panels if isinstance(p, Heatmap)]
        walls.put((key, linear), images, sum(map(len, images)))
    return images
