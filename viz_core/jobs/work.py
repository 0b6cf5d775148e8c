"""Computing one cell, in whatever process: its result goes to the store, its key comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from viz_core import catalogue, devices, packing, perplexity, portraits, survey, variants
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.jobs import losses
from viz_core.jobs.cell import Cell, Outcome
from viz_core.jobs.reading import Reading
from viz_core.journal import Journal
from viz_core.packing import Packed
from viz_core.progress import Progress, ignore
from viz_core.store import RunKey, Store
from viz_core.subject import Subject
from viz_core.trace import Trace, check_length, trace
from viz_core.words import say


@dataclass(frozen=True)
class Work:
    """What a worker needs to know beyond the cell: the store, and how many bytes it may take."""

    folder: Path
    limit: int

    def store(self) -> Store:
        """The store, opened here."""
        return Store(self.folder, self.limit)

    def __call__(self, cell: Cell, progress: Progress = ignore) -> Outcome:
        """Computes `cell` unless the store has it by now. What fails is an outcome, with its reason
        in a sentence; what `progress` raises is raised."""
        assert cell.key is not None
        digest, cancelled = cell.key.digest, list[BaseException]()

        def watched(done: float) -> None:
            try:
                progress(done)
            except BaseException as error:
                cancelled.append(error)
                raise

        try:
            store = self.store()
            if store.get(cell.key) is not None:
                return Outcome(digest, "found")
            arrays, about = self._measured(cell, cell.key, watched)
            if not store.put(cell.key, arrays, about):
                return Outcome(digest, "failed", store.trouble or "")
        except Exception as error:  # of one cell: the others go on
            if error in cancelled:
                raise
            known = isinstance(error, AtlasError)
            reason = str(error) if known else f"{type(error).__name__}: {error}"
            return Outcome(digest, "failed", reason)
        return Outcome(digest, "computed")

    def _measured(self, cell: Cell, key: RunKey, progress: Progress) -> Packed:
        checkpoint, how, read = _checkpoint(cell), cell.how, Reading(cell.how)
        model = _model(cell.name, cell.sha256)
        if cell.measurement == "perplexity":
            samples = read.samples(checkpoint, cell.text)
            _same(cell, key, [s.sha256 for s in samples])
            check_length(model, cell.length)
            rows = perplexity.measure(
                model,
                samples,
                [cell.length],
                how.protocol,
                cell.setting,
                progress=progress,
                kept=Journal(self.folder / "perplexity.jsonl"),
                identity=cell.sha256,
            )
            return losses.pack(rows)
        passages = read.passages(checkpoint, cell.text, cell.length)
        _same(cell, key, [p.sha256 for p in passages])
        ids, varied = [p.ids for p in passages], variants.vary(model, cell.setting, cell.length)
        if cell.measurement == "maps":

            def tracer(some: Sequence[int], progress: Progress) -> Trace:
                return trace(varied, some, progress)

            found = survey.survey(tracer, ids, how.view, pooling=how.pooling, progress=progress)
            return packing.pack(found)
        portrait = portraits.measure(varied, ids, checkpoint.tokenizer(), cell.setting, progress)
        return packing.pack_portrait(portrait)


def _checkpoint(cell: Cell) -> Checkpoint:
    """The checkpoint that was planned with. Raises AtlasError where there is another one now."""
    found = catalogue.find(cell.name)
    if found.sha256 != cell.sha256:
        raise AtlasError(
            say(
                "Expected {checkpoint} as it was when the sweep began; its file has changed, so "
                "run the sweep again.",
                checkpoint=cell.checkpoint,
            )
        )
    return found


@lru_cache(maxsize=1)  # the cells of a checkpoint follow each other
def _model(name: str, sha256: str) -> Subject:
    return catalogue.find(name).load(devices.best())


def _same(cell: Cell, key: RunKey, shas: Sequence[str]) -> None:
    """Raises AtlasError where this machine reads other texts than the one that planned."""
    if tuple(shas) != key.texts:
        raise AtlasError(
            say(
                "Expected the same text {text} as where the sweep was begun; this machine has "
                "another, so let ATLAS_CORPUS name one folder that all of them read.",
                text=cell.text,
            )
        )
