"""What the plates of encodings alone take: encodings with their knobs, at sizes of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz_core import alone, encodings
from viz_core.alone import Alone
from viz_core.encodings import Geometry, Value
from viz_core.errors import UnknownName, UsageError
from viz_core.export.provenance import Facts, Source, digest
from viz_core.figures import encoding_atlas
from viz_core.plates import _places
from viz_core.plates._contract import Options
from viz_core.words import PLAIN, say, speaking

LONGEST = 16_384  # tokens that are shown
SIZES: Options = {
    "encodings": ["alibi", "rope"],
    "model_heads": 8,
    "head_width": 32,
    "trained_length": 512,
    "length": 1024,
}
SHOWN: Options = {**SIZES, "heads": [4], "queries": None, "keys": None}


@dataclass(frozen=True)
class Formulas:
    """The encodings of a figure, and the head (from 0) that it shows of each."""

    sides: tuple[Alone, ...]
    head: int
    trained: int
    length: int

    def drawn(self, options: Options) -> list[encoding_atlas.Side]:
        """The sides as figures take them, with their maps, whole or in part.

        Raises UsageError for an encoding that is nothing but trained numbers.
        """
        (box,) = _places.boxes(options, 1)
        found = []
        for a in self.sides:
            if a.law is None:
                raise UsageError(
                    say(
                        "Expected --encodings with a formula; all numbers of {encoding} are "
                        "trained, so draw a checkpoint's map instead.",
                        encoding=a.card.id,
                    )
                )
            found.append(
                encoding_atlas.Side(
                    title=a.of(self.head),
                    encoding=a.card.id,
                    trained_length=self.trained,
                    length=self.length,
                    head=min(self.head, len(a.law) - 1),
                    window=a.window(self.head, box),
                    law=a.law,
                    standing=a.standing,
                    bound=alone.bound(a),
                )
            )
        return found

    def facts(self) -> Facts:
        """What provenance says of them."""
        return {
            "made_of": "formulas alone: no checkpoint and no text",
            "length": self.length,
            "trained_length": self.trained,
            "normalisation": "softmax over all keys that are not after the query",
        }


def formulas(options: Options) -> Formulas:
    """Those of --encodings. Raises UsageError for encodings, values or sizes that there aren't."""
    heads, width = options["model_heads"], options["head_width"]
    trained, length = options["trained_length"], options["length"]
    if length > LONGEST:
        raise UsageError(
            say(
                "Expected --length up to {longest:,} here; got {length:,}.",
                longest=LONGEST,
                length=length,
            )
        )
    shown = _places.one_head(options) if "heads" in options else 1
    if shown > heads:
        raise UsageError(
            say(
                "Expected --heads up to {heads}, as --model-heads says; got {shown}.",
                heads=heads,
                shown=shown,
            )
        )
    geometry = Geometry(heads, width, heads * width, trained)
    sides = [alone.make(*_read(word), geometry, length) for word in options["encodings"]]
    return Formulas(tuple(sides), shown - 1, trained, length)


def sources(some: Sequence[Alone]) -> tuple[Source, ...]:
    """What provenance says of encodings: the sha256 of what their formulas give here.

    In English, whatever the figure's language: a source is the same in all.
    """
    with speaking(PLAIN):
        return tuple(
            Source("encoding", a.title, digest({"law": a.law} if a.law is not None else {}))
            for a in some
        )


def _read(word: str) -> tuple[str, dict[str, Value]]:
    """The id and the knobs of "rope:theta=500000:scaling=yarn", checked."""
    name, *parts = word.split(":")
    card = encodings.get(name[:40])
    known = {p.name: p for p in alone.knobs(card)}
    values: dict[str, Value] = {}
    for part in parts:
        key, _, value = part.partition("=")
        if key not in known:
            what = say("a parameter of {encoding}", encoding=name)
            raise UnknownName(what, key[:40], list(known) or [say("none")])
        values[key] = known[key].check(value[:40])
    return name, values
