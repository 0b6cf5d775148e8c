"""Spectra of a layer's decay curves, with RoPE's wavelengths marked."""

from __future__ import annotations

import numpy as np

from viz_core.figures import spectra
from viz_core.plates import _gathered, _places, _portraits
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.plates._portraits import Sitter
from viz_core.progress import Progress
from viz_core.signatures import ripple, spectrum
from viz_core.signatures.portrait import Array
from viz_core.words import mark, say

BASE, PAIRS = 10_000.0, 16  # plain RoPE, for encodings that have no frequencies of their own
MARKED = mark("RoPE's wavelengths, under each panel's own setting; plain RoPE's where it has none")


def draw(options: Options, progress: Progress) -> Plot:
    """A panel per checkpoint, one head in focus. Raises UsageError for a head that one hasn't, and
    LengthError where there are too few distances."""
    some = _portraits.sitters(options, progress)
    layer, head = _portraits.place(some, options["layer"], _places.one_head(options))
    spec = spectra.build([_side(one, layer, head) for one in some], layer, head, say(MARKED))
    facts = _gathered.facts(some[0].portrait, [layer + 1]) | {
        "heads": [head + 1],
        "spectrum": "Hann window, of the curve less its trend",
    }
    return Plot(spec, _portraits.sources(some, options), facts)


def _side(one: Sitter, layer: int, head: int) -> spectra.Side:
    p = one.portrait
    own: Array = p.theta if len(p.theta) else BASE ** (-np.arange(PAIRS) / PAIRS)
    found = spectrum.spectrum(p.curve[layer], p.pairs, own)
    told = ripple.fit(p.curve[layer], p.pairs, own)
    words = f"R² {told.explained[head]:.2f} (p {told.p[head]:.3f})"
    about = (words, p.texts, p.length)
    return spectra.Side(one.name, one.accent, found.frequency, found.amplitude, own, *about)


PLATE = Plate(
    "spectra",
    mark("Spectra of decay curves"),
    {"checkpoints": ["alibi", "rope"], "layer": 3, "heads": [1], **_portraits.COMMON},
    draw,
)
