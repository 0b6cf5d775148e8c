"""Decay of every head, a row per checkpoint and a column per layer."""

from __future__ import annotations

from viz_core import results, series, texts, variants
from viz_core.errors import UsageError
from viz_core.figures import decay_grid
from viz_core.plates import _gathered
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress, within
from viz_core.words import mark, say


def draw(options: Options, progress: Progress) -> Plot:
    """All checkpoints, as far as their layers go. Raises UsageError for a layer that one hasn't."""
    chosen = _gathered.checkpoints(options["checkpoints"])
    layers = options["layers"] or range(1, min(c.config.layers for c in chosen) + 1)
    shipped = results.portraits().values()
    sides, sources = [], []
    for i, checkpoint in enumerate(chosen):
        if max(layers) > checkpoint.config.layers:
            raise UsageError(
                say(
                    "Expected --layers up to {layers} for {checkpoint}; got {layer}.",
                    layers=checkpoint.config.layers,
                    checkpoint=checkpoint.id,
                    layer=max(layers),
                )
            )
        length = options["length"] or checkpoint.config.length
        here = within(progress, i / len(chosen), (i + 1) / len(chosen))
        asked = options["text"], length, options["texts"]
        found = _gathered.portrait(checkpoint, *asked, shipped, here)
        p, places = found.portrait, [layer - 1 for layer in layers]
        sides.append(
            decay_grid.Side(
                name=variants.title(p.encoding),
                encoding=p.encoding,
                layers=tuple(layers),
                curve=p.curve[places],
                law=p.law[places],
                pairs=p.pairs,
                length=p.length,
                texts=p.texts,
                sink=p.sink,
            )
        )
        sources.append(_gathered.of_checkpoint(checkpoint))
    sources += _gathered.of_texts(options["text"], found.texts)
    return Plot(decay_grid.build(sides), tuple(sources), _gathered.facts(p, list(layers)))


PLATE = Plate(
    "decay-grid",
    mark("Decay of every head, by encoding and layer"),
    {
        "checkpoints": list(series.ORDER),
        "layers": None,
        "length": None,
        "text": texts.HELD_OUT,
        "texts": 42,
    },
    draw,
    {"decay-grid": {}},
)
