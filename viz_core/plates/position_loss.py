"""Losses by position from the shipped tables: what each further token of context is worth."""

from __future__ import annotations

from viz_core import series, texts
from viz_core.errors import UsageError
from viz_core.export.provenance import Facts
from viz_core.figures import position_loss
from viz_core.plates import _places, _tables
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.words import mark, say


def draw(options: Options, progress: Progress) -> Plot:
    """All checkpoints and settings that the tables have. Raises AtlasError where there are none,
    UsageError for a measure that positions haven't."""
    measure: str = options["measure"]
    text: str = options["text"]
    if measure == "difference":
        raise UsageError(say("Expected --measure perplexity or loss by position; got difference."))
    settings = [_places.setting(word) for word in options["scaling"]]
    found = _tables.by_position(text, options["checkpoints"], settings)
    spec = position_loss.build(found, series.text(text), measure == "perplexity")
    progress(1.0)
    facts: Facts = {
        "trained_length": found[0].trained_length,
        "length": max(s.length for s in found),
        "measure": measure,
        "interval": "95 % bootstrap over documents",
    }
    return Plot(spec, _tables.of_tables("perplexity"), facts)


PLATE = Plate(
    "position-loss",
    mark("Losses by position"),
    {
        "checkpoints": list(series.ORDER),
        "scaling": ["none"],
        "measure": "loss",
        "text": texts.HELD_OUT,
    },
    draw,
)
