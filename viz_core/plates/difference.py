"""What another setting does to a head: the difference of its maps, and its curves."""

from __future__ import annotations

from dataclasses import replace

from viz_core import texts
from viz_core.errors import UsageError
from viz_core.figures import difference, head_wall
from viz_core.plates import _gathered, _maps, _places
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress, within
from viz_core.series import name
from viz_core.words import mark, say


def draw(options: Options, progress: Progress) -> Plot:
    """One head of one checkpoint as trained, and under the setting of --scaling.

    Raises UsageError for several, or what isn't there.
    """
    checkpoint = _places.one_checkpoint(options)
    config = checkpoint.config
    layer, head = _places.head(checkpoint, options["layer"], _places.one_head(options))
    if len(options["scaling"]) != 1 or options["scaling"] == ["none"]:
        raise UsageError(say("Expected one setting other than none, such as --scaling linear:4."))
    setting: str = options["scaling"][0]
    (box,) = _places.boxes(options, 1)
    length = options["length"] or config.length
    some = _gathered.passages(options["text"], length, options["texts"], checkpoint)
    sides, one = [], slice(head, head + 1)
    for i, word in enumerate(("", setting)):
        here = within(progress, i / 2, (i + 1) / 2)
        early, late = within(here, 0, 0.5), within(here, 0.5, 1)
        curve, _ = _maps.curve(checkpoint, some, layer, early, word)
        curve = replace(curve, value=curve.value[one], error=curve.error[one])
        if box is None:
            window = _maps.whole(checkpoint, some, "log", layer, late, setting=word)
            window = replace(window, value=window.value[one])
        else:
            window = _maps.zoomed(checkpoint, some, "log", (layer, head), box, late, setting=word)
        called = name(config.encoding, word, checkpoint.id)
        sides.append(difference.Side(called, config.encoding, window, curve, 0))
    what = head_wall.title(layer, head)
    spec = difference.build(sides[0], sides[1], config.length, length, what)
    facts = _gathered.how(length, config.length, len(some)) | {
        "setting": setting,
        "layers": [layer + 1],
        "heads": [head + 1],
        "maps": "mean log-attention under the setting less that as trained",
        "cell": sides[1].window.cell,
    }
    sources = _gathered.of_texts(options["text"], [p.sha256 for p in some])
    return Plot(spec, (_gathered.of_checkpoint(checkpoint), *sources), facts)


PLATE = Plate(
    "difference",
    mark("The same head under another setting"),
    {
        "checkpoints": ["rope"],
        "scaling": ["linear:4"],
        "layer": 3,
        "heads": [1],
        "queries": None,
        "keys": None,
        "length": 1024,
        "text": texts.HELD_OUT,
        "texts": 42,
    },
    draw,
)
