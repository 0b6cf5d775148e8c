"""The project's signature figure: ALiBi's staircase next to RoPE's ripples."""

from __future__ import annotations

import numpy as np

from viz_core import results, texts, variants
from viz_core.catalogue import Checkpoint
from viz_core.errors import UsageError
from viz_core.figures import staircase_ripples
from viz_core.plates import _gathered, _maps
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress, within
from viz_core.signatures import reach, ripple, spectrum
from viz_core.signatures.portrait import Array, Portrait
from viz_core.types import Curve, Window
from viz_core.words import mark, say

PIXELS = 256  # cells on a side: what 600 dots per inch show of a map that is 0.4 inches wide
SHARE = 0.9  # of a head's attention, within its reach


def draw(options: Options, progress: Progress) -> Plot:
    """Two checkpoints, the first with ALiBi and the second with RoPE. Raises UsageError for others,
    or for a layer or a head that they haven't."""
    pair = _pair(options)
    length = options["length"] or pair[0].config.length
    shown = options["heads"], options["other_heads"]
    layer = _place(pair, options["layer"], shown)
    shipped = results.portraits().values()
    likes, windows = [], []
    for i, checkpoint in enumerate(pair):
        here = within(progress, i / 2, (i + 1) / 2)
        count, text = options["texts"], options["text"]
        early = within(here, 0, 0.3)
        likes.append(_gathered.portrait(checkpoint, text, length, count, shipped, early))
        some = _gathered.passages(text, length, count, checkpoint)
        windows += _maps.layers(checkpoint, some, "log", within(here, 0.3, 1), PIXELS, layer)
    theta = likes[1].portrait.theta
    sides = [
        _side(c, one.portrait, w, layer, tuple(h - 1 for h in heads), theta)
        for c, one, w, heads in zip(pair, likes, windows, shown, strict=True)
    ]
    first = likes[0].portrait
    frequency = spectrum.spectrum(first.curve[layer], first.pairs, theta).frequency
    spec = staircase_ripples.build(
        (sides[0], sides[1]),
        _reach(first, sides),
        frequency,
        (2 * np.pi / theta).tolist(),
    )
    sources = [_gathered.of_checkpoint(checkpoint) for checkpoint in pair]
    sources += _gathered.of_texts(options["text"], likes[0].texts)
    facts = _gathered.facts(first, [layer + 1]) | {
        "heads": [*shown[0], *shown[1]],
        "maps": "geometric mean of attention over the texts, sink included",
        "reach": SHARE,
        "spectrum": "Hann window, of the curve less its trend",
    }
    return Plot(spec, tuple(sources), facts)


def _pair(options: Options) -> list[Checkpoint]:
    names = options["checkpoints"]
    found = _gathered.checkpoints(names)
    if [c.config.encoding for c in found] != ["alibi", "rope"]:
        raise UsageError(
            say(
                "Expected two --checkpoints, the first with ALiBi and the second with RoPE; got "
                "{names}.",
                names=", ".join(names),
            )
        )
    return found


def _place(pair: list[Checkpoint], layer: int, heads: tuple[list[int], list[int]]) -> int:
    """The layer from 0, once layer and heads (from 1) are known to be there."""
    for checkpoint, some in zip(pair, heads, strict=True):
        config = checkpoint.config
        if layer > config.layers or max(some) > config.heads:
            raise UsageError(
                say(
                    "Expected a layer up to {layers} and heads up to {heads} of {checkpoint}; got "
                    "layer {layer}, heads {shown}.",
                    layers=config.layers,
                    heads=config.heads,
                    checkpoint=checkpoint.id,
                    layer=layer,
                    shown=", ".join(map(str, some)),
                )
            )
    return layer - 1


def _side(
    checkpoint: Checkpoint,
    p: Portrait,
    window: Window,
    layer: int,
    shown: tuple[int, ...],
    theta: Array,
) -> staircase_ripples.Side:
    curve = p.curve[layer]
    found = ripple.fit(curve, p.pairs, theta)
    mass = reach.mass(p.probability[layer], p.pairs)
    return staircase_ripples.Side(
        name=variants.title(p.encoding),
        encoding=p.encoding,
        trained_length=p.trained,
        length=p.length,
        layer=layer + 1,
        shown=shown,
        window=window,
        curve=Curve(curve, p.error[layer], p.pairs, p.texts, p.sink),
        law=p.law[layer],
        reach=reach.reach(mass, (SHARE,))[:, 0],
        amplitude=spectrum.spectrum(curve, p.pairs, theta).amplitude,
        ripple=np.stack((found.explained, found.expected, found.p), axis=1),
    )


def _reach(alibi: Portrait, sides: list[staircase_ripples.Side]) -> staircase_ripples.Reach:
    size = len(alibi.pairs)
    law = reach.reach(reach.geometric(-alibi.nominal, size), (SHARE,))[:, 0]
    even = reach.reach(reach.geometric(np.zeros(1), size), (SHARE,))[0, 0]
    number = np.arange(len(law), dtype=np.float64)
    grows = [reach.progression(r, number) for r in (law, *(s.reach for s in sides))]
    return staircase_ripples.Reach(
        SHARE, law, float(even), tuple((g.factor, g.low, g.high, g.p) for g in grows)
    )


PLATE = Plate(
    "staircase-ripples",
    mark("ALiBi's staircase next to RoPE's ripples"),
    {
        "checkpoints": ["alibi", "rope"],
        "layer": 3,
        "heads": [2, 4, 6],
        "other_heads": [1, 6, 8],
        "length": None,
        "text": texts.HELD_OUT,
        "texts": 42,
    },
    draw,
    {"staircase-ripples": {}},
)
