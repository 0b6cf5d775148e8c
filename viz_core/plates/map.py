"""Attention maps of single heads side by side on one colour scale: what Compare shows."""

from __future__ import annotations

from viz_core import texts
from viz_core.export.provenance import Facts
from viz_core.figures import attention_maps
from viz_core.plates import _gathered, _maps, _marks, _places
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress, ignore, within
from viz_core.types import Pooling
from viz_core.words import mark


def draw(options: Options, progress: Progress) -> Plot:
    """A panel for each place, whole or in part. Raises UsageError and TextError for what isn't
    there."""
    shown = _places.places(options)
    boxes = _places.boxes(options, len(shown))
    view = options["view"]
    first = shown[0].checkpoint
    length = options["length"] or first.config.length
    count = 1 if view == "probability" else options["texts"]
    pooling: Pooling = options["pooling"] if view == "probability" else "mean"
    sides = []
    for i, (place, box) in enumerate(zip(shown, boxes, strict=True)):
        here = within(progress, i / len(shown), (i + 1) / len(shown))
        c, at = place.checkpoint, (place.layer, place.head)
        some = _gathered.passages(options["text"], length, count, c)
        if box is None:
            window = _maps.whole(c, some, view, place.layer, here, pooling, place.setting)
        else:
            window = _maps.zoomed(c, some, view, at, box, here, pooling, place.setting)
        head = place.head if box is None else 0  # a part is of one head alone
        about = (place.title, c.config.encoding, c.config.length, length)
        marks = None
        if options["marks"] == "yes":
            curve = _maps.curve(c, some, place.layer, ignore, place.setting)
            marks = _marks.of(place, some, *curve)
        sides.append(attention_maps.Side(window, head, *about, marks))
    spec = attention_maps.build(sides, options["map_scale"] == "linear")
    facts: Facts = {
        "length": length,
        "trained_length": first.config.length,
        "texts": count,
        "layers": [place.layer + 1 for place in shown],
        "heads": [place.head + 1 for place in shown],
        "normalisation": "softmax over all keys that are not after the query",
        "maps": _maps.WORDS[view],
        "cell": sides[0].window.cell,
    }
    sources = [_gathered.of_checkpoint(place.checkpoint) for place in shown]
    sources += _gathered.of_texts(options["text"], [p.sha256 for p in some])
    return Plot(spec, tuple(dict.fromkeys(sources)), facts)


PLATE = Plate(
    "map",
    mark("Attention maps of single heads"),
    {
        "places": ["alibi.3.2", "rope.3.1"],
        "scaling": ["none"],
        "view": "log",
        "map_scale": "log",
        "pooling": "mean",
        "marks": "no",
        "queries": None,
        "keys": None,
        "length": None,
        "text": texts.HELD_OUT,
        "texts": 42,
    },
    draw,
)
