"""What is measured of checkpoints for all sessions: surveys, parts of maps, portraits.

Each is found by its key (`keeping`) or measured now, in turn, from traces that stay on the device.
"""

from __future__ import annotations

from collections.abc import Sequence

from pages._shared import allowed, device, loaded
from pages._shared.keeping import recalled
from pages._shared.shelf import Shelf
from viz_core import keys, packing, portraits, survey, variants
from viz_core.catalogue import Checkpoint
from viz_core.errors import LengthError
from viz_core.progress import Progress
from viz_core.signatures.portrait import Portrait
from viz_core.survey import Survey
from viz_core.texts import Passage
from viz_core.trace import Trace, trace
from viz_core.types import Kind, Pooling, Range, Window

# Of the server, as in `device`.
surveys: Shelf[Survey] = Shelf(1 << 30)
windows: Shelf[Window] = Shelf(256 << 20)
portrayals: Shelf[Portrait] = Shelf(256 << 20)


def surveyed(
    checkpoint: Checkpoint,
    passages: list[Passage],
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
    checkpoint: Checkpoint,
    passages: list[Passage],
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
    checkpoint: Checkpoint, passages: list[Passage], setting: str, progress: Progress
) -> Portrait:
    """The portrait of `checkpoint` under `setting` over `passages`; as `surveyed`."""
    key = keys.portrait(checkpoint, passages, setting)

    def compute() -> Portrait:
        varied = variants.vary(loaded.model(checkpoint), setting, len(passages[0].ids))
        allowed.check_memory(varied, len(passages[0].ids))
        ids = [p.ids for p in passages]
        return portraits.measure(varied, ids, loaded.tokenizer(checkpoint), setting, progress)

    unpack = packing.unpack_portrait
    return recalled(key, passages, portrayals, compute, packing.pack_portrait, unpack, progress)


def _tracer(checkpoint: Checkpoint, passages: list[Passage], setting: str) -> survey.Tracer:
    """Traces of `passages` from the shelf, or made now."""
    names = {tuple(p.ids): p.sha256 for p in passages}

    def tracer(ids: Sequence[int], progress: Progress) -> Trace:
        key = checkpoint.sha256, setting, names[tuple(ids)]
        found = device.traces().get(key)
        if found is None:
            varied = variants.vary(loaded.model(checkpoint), setting, len(ids))

            def passed() -> Trace:
                allowed.check_memory(varied, len(ids))
                return trace(varied, ids, progress)

            try:
                found = passed()
            except LengthError:  # what is kept may take the memory that this one needs
                if not device.traces().held:
                    raise
                device.traces().clear()
                found = passed()
            device.traces().put(key, found, found.bytes)
        return found

    return tracer
