"""Losses that sessions share, of a visitor's own measurements: bounded, one at a time."""

from __future__ import annotations

from collections.abc import Sequence

from pages._shared import allowed, device, loaded
from pages._shared.shelf import Shelf
from viz_core import perplexity
from viz_core.catalogue import Checkpoint
from viz_core.progress import Progress
from viz_core.types import Sample

# Of the server, as in `device`.
measured: Shelf[list[perplexity.Row]] = Shelf(16 << 20)
scores: Shelf[perplexity.Kept] = Shelf(16 << 20)
ROW_BYTES = 1000  # about, of a measured row or the scores behind it


def losses(
    checkpoint: Checkpoint,
    setting: str,
    samples: Sequence[Sample],
    lengths: Sequence[int],
    progress: Progress,
) -> list[perplexity.Row]:
    """Losses of `checkpoint` under `setting`, fixed targets, from the shelf or computed now.

    Computing waits its turn; `progress` may raise, which cancels. Raises as `perplexity.measure`.
    """
    same = (checkpoint.sha256, tuple(s.sha256 for s in samples), tuple(lengths))
    found = measured.get((same, setting))
    if found is not None:
        return found
    allowed.check_length(max(lengths))
    with device.turn(progress):
        found = measured.get((same, setting))
        if found is None:
            kept = scores.get(same)
            kept = {} if kept is None else kept  # as trained it is measured once for all settings
            found = device.computed(
                "losses",
                lambda: perplexity.measure(
                    loaded.model(checkpoint),
                    samples,
                    lengths,
                    setting=setting,
                    progress=progress,
                    kept=kept,
                    identity=checkpoint.sha256,
                ),
            )
            scores.put(same, kept, ROW_BYTES * len(kept))
            measured.put((same, setting), found, ROW_BYTES * len(found))
    return found
