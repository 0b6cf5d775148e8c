"""The state of Attribution as the address carries it: short, versioned, checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from pages._kit.session import LONGEST_PASTE, VERSION
from viz_core.attribution import KINDS, METHODS, REPLACEMENTS
from viz_core.attribution.tokens import STEPS as USUAL

LENGTHS = (64, 128, 256, 512, 1024)  # tokens; patterns grow with the square
STEPS = (10, 25, USUAL, 100, 200)
PLACES = ("near", "far", "beyond")
LONGEST = 80  # characters of a name in an address
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
    if query.get("v", VERSION) != VERSION:
        return plain, [
            f"This address is of version {query['v'][:40]!r}, and version {VERSION} was expected; "
            "the page shows its start instead."
        ]
    wrong = list[str]()

    def among(name: str, known: tuple[object, ...]) -> str:
        default = str(getattr(plain, name))
        value = query.get(name, default)
        if value in map(str, known):
            return value
        wrong.append(
            f"Expected {name} in the address among {', '.join(map(str, known))}; got "
            f"{value[:40]!r}, so {default} is shown."
        )
        return default

    def flag(name: str) -> bool:
        return among(name, (0, 1)) == "1" if name in query else bool(getattr(plain, name))

    def whole(name: str, low: int) -> int | None:
        text = query.get(name)
        if text is None or (text.isdecimal() and low <= int(text[:9]) <= HIGHEST):
            return None if text is None else int(text)
        wrong.append(
            f"Expected {name} in the address to be a number from {low}; got {text[:40]!r}, so it "
            "is left out."
        )
        return None

    def place(name: str) -> int:
        found = whole(name, 1)
        return int(getattr(plain, name)) if found is None else found - 1

    names = {
        n: query.get(n, str(getattr(plain, n)))[:LONGEST]
        for n in ("checkpoint", "text", "token", "against")
    }
    state = AttributionState(
        length=int(among("length", LENGTHS)),
        many=flag("many"),
        first=whole("first", 0),
        last=whole("last", 0),
        method=among("method", tuple(METHODS)),
        kind=among("kind", KINDS),
        steps=int(among("steps", STEPS)),
        layer=place("layer"),
        head=place("head"),
        replacement=among("replacement", tuple(REPLACEMENTS)),
        place=among("place", PLACES),
        kept=flag("kept"),
        paste=query.get("paste", "")[:LONGEST_PASTE],
        **names,
    )
    return state, wrong
