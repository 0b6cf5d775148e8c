"""The state of Attribution as the address carries it: short, versioned, checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from pages._shared import decoding
from pages._shared.decoding import LONGEST_PASTE, VERSION
from viz_core.attribution import KINDS, METHODS, REPLACEMENTS
from viz_core.attribution.tokens import STEPS as USUAL
from viz_core.words import say

LENGTHS = (64, 128, 256, 512, 1024)  # tokens; patterns grow with the square
STEPS = (10, 25, USUAL, 100, 200)
PLACES = ("near", "far", "beyond")
HIGHEST = 10**6  # of a query


@dataclass(frozen=True)
class AttributionState:
    """Everything that the page shows follows from this.

    What is explained: the token that follows query `last` (None: the last one that has one), or,
    with `many`, the mean over all queries from `first` (None: half-way) to `last`; by its `kind`.
    `token` stands for the token that follows, where it isn't empty; `against` for the other one of
    a difference. `layer` and `head` count from 0 here and from 1 in the address. `replacement`,
    `place` and `kept` (the first keys are never cut) choose among the shipped losses.
    """

    checkpoint: str = "rope"
    text: str = "prose"
    length: int = 128
    many: bool = False
    first: int | None = None
    last: int | None = None
    method: str = "integrated-gradients"
    kind: str = "log-probability"
    token: str = ""
    against: str = ""
    steps: int = USUAL
    layer: int = 1
    head: int = 3
    replacement: str = "zero"
    place: str = "far"
    kept: bool = False
    paste: str = ""

    def encoded(self) -> dict[str, str]:
        """The query parameters of the address; what is at its default is left out."""
        out = {"v": VERSION}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default or field.name == "paste":
                continue
            if isinstance(value, bool):
                out[field.name] = str(int(value))
            elif field.name in ("layer", "head"):
                out[field.name] = str(value + 1)
            else:
                out[field.name] = str(value)
        if self.text == "pasted" and 0 < len(self.paste) <= LONGEST_PASTE:
            out["paste"] = self.paste
        return out


def decoded(query: Mapping[str, str]) -> tuple[AttributionState, list[str]]:
    """(the state that `query` asks for, a sentence for each part that could not be read).

    Whether checkpoints, texts, queries and layers exist is for the page to say; here only form
    counts.
    """
    plain = AttributionState()
    if wrong := decoding.foreign(query):
        return plain, wrong
    asked = decoding.Asked(query, plain)

    def flag(name: str) -> bool:
        return asked.among(name, (0, 1)) == "1" if name in query else bool(getattr(plain, name))

    def whole(name: str, low: int) -> int | None:
        text = query.get(name)
        found = None if text is None else decoding.number(text, low, HIGHEST)
        if text is None or found is not None:
            return found
        asked.wrong.append(
            say(
                "Expected {name} in the address to be a number from {low}; got {got!r}, so it is "
                "left out.",
                name=name,
                low=low,
                got=text[: decoding.SAID],
            )
        )
        return None

    def place(name: str) -> int:
        found = whole(name, 1)
        return int(getattr(plain, name)) if found is None else found - 1

    state = AttributionState(
        length=int(asked.among("length", LENGTHS)),
        many=flag("many"),
        first=whole("first", 0),
        last=whole("last", 0),
        method=asked.among("method", METHODS),
        kind=asked.among("kind", KINDS),
        steps=int(asked.among("steps", STEPS)),
        layer=place("layer"),
        head=place("head"),
        replacement=asked.among("replacement", REPLACEMENTS),
        place=asked.among("place", PLACES),
        kept=flag("kept"),
        paste=query.get("paste", "")[:LONGEST_PASTE],
        **asked.names("checkpoint", "text", "token", "against"),
    )
    return state, asked.wrong
