"""Validation losses as the shipped checkpoints were trained."""

from __future__ import annotations

from viz_core import series
from viz_core.export.provenance import Facts
from viz_core.figures import training_curves
from viz_core.plates import _gathered, _tables
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.words import mark


def draw(options: Options, progress: Progress) -> Plot:
    """All checkpoints on one pair of axes. Raises AtlasError where a training left no table."""
    chosen = _gathered.checkpoints(options["checkpoints"])
    spec = training_curves.build([_tables.training(checkpoint) for checkpoint in chosen])
    progress(1.0)
    sources = [_gathered.of_checkpoint(c) for c in chosen]
    sources += [_tables.of_training(c) for c in chosen]
    facts: Facts = {"trained_length": chosen[0].config.length, "loss": "nats per token, validation"}
    return Plot(spec, tuple(sources), facts)


PLATE = Plate(
    "training-curves",
    mark("Validation loss while training"),
    {"checkpoints": list(series.ORDER)},
    draw,
    {"training-curves": {}},
)
