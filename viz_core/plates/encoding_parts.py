"""What an encoding is made of: slopes and reach, buckets, wavelengths, or vectors."""

from __future__ import annotations

from viz_core.alone import parts
from viz_core.errors import UsageError
from viz_core.figures import encoding_parts
from viz_core.plates import _formulas
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.progress import Progress
from viz_core.words import mark, say


def draw(options: Options, progress: Progress) -> Plot:
    """One encoding. Raises UsageError for several, and for one that has nothing of its own."""
    found = _formulas.formulas(options)
    if len(found.sides) != 1:
        raise UsageError(
            say("Expected one of --encodings here; got {count}.", count=len(found.sides))
        )
    part = parts.part(found.sides[0])
    if part is None:
        raise UsageError(
            say(
                "Expected --encodings with a formula of its own: alibi, rope, sinusoidal or t5; "
                "got {encoding}.",
                encoding=found.sides[0].card.id,
            )
        )
    progress(1.0)
    return Plot(encoding_parts.build(part), _formulas.sources(found.sides), found.facts())


PLATE = Plate(
    "encoding-parts",
    mark("What an encoding is made of"),
    {**_formulas.SIZES, "encodings": ["rope"]},
    draw,
)
