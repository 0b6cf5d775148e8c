"""Log-attention by distance of a layer's heads, one of them in focus: what Compare shows."""

from __future__ import annotations

from viz_core import texts
from viz_core.figures import decay_curves
from viz_core.plates import _gathered, _maps, _places
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress, within


def draw(options: Options, progress: Progress) -> Plot:
    """A panel for each place, its head in focus among those of `heads`, or all of its layer.

    Raises UsageError and TextError for what isn't there.
    """
    shown = _places.places(options)
    first = shown[0].checkpoint
    length = options["length"] or first.config.length
    sides = []
    for i, place in enumerate(shown):
        config = place.checkpoint.config
        some = _gathered.passages(options["text"], length, options["texts"], place.checkpoint)
        here = within(progress, i / len(shown), (i + 1) / len(shown))
        found, law = _maps.curve(place.checkpoint, some, place.layer, here, place.setting)
        others = [
            _places.head(place.checkpoint, place.layer + 1, head)[1]
            for head in options["heads"] or range(1, config.heads + 1)
        ]
        sides.append(
            decay_curves.Side(
                curve=found,
                law=law if options["laws"] == "yes" else None,
                focus=place.head,
                title=place.title,
                encoding=config.encoding,
                trained_length=config.length,
                shown=tuple(others),
            )
        )
    spec = decay_curves.build(sides, options["x_scale"] == "log")
    sources = [_gathered.of_checkpoint(place.checkpoint) for place in shown]
    sources += _gathered.of_texts(options["text"], [p.sha256 for p in some])
    facts = _gathered.how(length, first.config.length, len(some)) | {
        "layers": [place.layer + 1 for place in shown],
        "heads": [place.head + 1 for place in shown],
    }
    return Plot(spec, tuple(dict.fromkeys(sources)), facts)


PLATE = Plate(
    "curves",
    "Attention by distance, a layer's heads",
    {
        "places": ["alibi.3.2", "rope.3.1"],
        "scaling": ["none"],
        "heads": None,
        "laws": "yes",
        "x_scale": "linear",
        "length": None,
        "text": texts.HELD_OUT,
        "texts": 42,
    },
    draw,
)
