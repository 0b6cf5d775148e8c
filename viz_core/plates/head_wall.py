"""The wall: every layer's and head's map of one checkpoint."""

from __future__ import annotations

from dataclasses import replace

from viz_core import texts, variants
from viz_core.errors import UsageError
from viz_core.export.provenance import Facts
from viz_core.figures import head_wall
from viz_core.plates import _gathered, _maps
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.words import mark, say, sentences

PIXELS = 128  # cells on a side of a map that is about half an inch wide


def draw(options: Options, progress: Progress) -> Plot:
    """One checkpoint, one view. Raises UsageError for several."""
    chosen = _gathered.checkpoints(options["checkpoints"])
    if len(chosen) != 1:
        raise UsageError(
            say("Expected one of --checkpoints for a wall; got {count}.", count=len(chosen))
        )
    checkpoint, view = chosen[0], options["view"]
    config = checkpoint.config
    length = options["length"] or config.length
    count = 1 if view == "probability" else options["texts"]
    some = _gathered.passages(options["text"], length, count, checkpoint)
    windows = _maps.layers(checkpoint, some, view, progress, PIXELS)
    spec = head_wall.build(
        windows, config.encoding, config.length, options["map_scale"] == "linear"
    )
    about = say(
        "All heads of a model with {encoding}, layer by layer.",
        encoding=variants.title(config.encoding),
    )
    caption = sentences(about, spec.caption)
    wall = say("A wall of {layers} by {heads} maps.", layers=config.layers, heads=config.heads)
    # not the title of each
    spec = replace(spec, caption=caption, alt=sentences(wall, caption))
    facts: Facts = {
        "length": length,
        "trained_length": config.length,
        "texts": count,
        "layers": list(range(1, config.layers + 1)),
        "heads": list(range(1, config.heads + 1)),
        "normalisation": "softmax over all keys that are not after the query",
        "maps": _maps.WORDS[view],
        "cell": windows[0].cell,
    }
    sources = (
        _gathered.of_checkpoint(checkpoint),
        *_gathered.of_texts(options["text"], [p.sha256 for p in some]),
    )
    return Plot(spec, sources, facts)


PLATE = Plate(
    "head-wall",
    mark("Every head of a checkpoint"),
    {
        "checkpoints": ["rope"],
        "view": "log",
        "map_scale": "log",
        "length": None,
        "text": texts.HELD_OUT,
        "texts": 42,
    },
    draw,
    {"head-wall": {}, "head-wall-alibi": {"checkpoints": ["alibi"]}},
)
