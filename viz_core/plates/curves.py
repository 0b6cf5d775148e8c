"""Log-attention by distance of a layer's heads, one of them in focus: what Compare shows."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core import texts
from viz_core.figures import decay_curves
from viz_core.plates import _gathered, _maps, _marks, _places
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress, within
from viz_core.words import mark


def draw(options: Options, progress: Progress) -> Plot:
    """A panel for each place, its head in focus among those of `heads`, or all of its layer.

    Raises UsageError and TextError for what isn't there.
    """
    shown = _places.places(options)
    first = shown[0].checkpoint
    length = options["length"] or first.config.length
    focused = [_heads(place, options["heads"]) for place in shown]  # before any text is read
    sides = []
    for i, (place, others) in enumerate(zip(shown, focused, strict=True)):
        config = place.checkpoint.config
        some = _gathered.passages(options["text"], length, options["texts"], place.checkpoint)
        here = within(progress, i / len(shown), (i + 1) / len(shown))
        found, law = _maps.curve(place.checkpoint, some, place.layer, here, place.setting)
        sides.append(
            decay_curves.Side(
                curve=found,
                law=law if options["laws"] == "yes" else None,
                focus=place.head,
                title=place.title,
                encoding=config.encoding,
                trained_length=config.length,
                shown=others,
                marks=_marks.of(place, some, found, law) if options["marks"] == "yes" else None,
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


def _heads(place: _places.Place, wanted: Sequence[int] | None) -> tuple[int, ...]:
    """The heads of its layer that are drawn, from 0: those `wanted` (from 1), or all of them."""
    every = wanted or range(1, place.checkpoint.config.heads + 1)
    return tuple(_places.head(place.checkpoint, place.layer + 1, head)[1] for head in every)


PLATE = Plate(
    "curves",
    mark("Attention by distance, a layer's heads"),
    {
        "places": ["alibi.3.2", "rope.3.1"],
        "scaling": ["none"],
        "heads": None,
        "laws": "yes",
        "marks": "no",
        "x_scale": "linear",
        "length": None,
        "text": texts.HELD_OUT,
        "texts": 42,
    },
    draw,
)
