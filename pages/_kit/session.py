"""The state of Compare as the address carries it: short, versioned, checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

VERSION = "1"
LONGEST_PASTE = 2000  # characters that an address can carry
MOST_SIDES = 4
VIEWS = ("mean", "centred", "one")
TEXTS = 6  # texts in a mean, at first


@dataclass(frozen=True)
class SideState:
    """One map: checkpoint id, layer and head, counted from 0 here and from 1 in the address."""

    checkpoint: str
    layer: int
    head: int


@dataclass(frozen=True)
class CompareState:
    """Everything that the page shows follows from this."""

    sides: tuple[SideState, ...]
    length: int = 1024
    text: str = "python-docs"
    view: str = "mean"
    texts: int = TEXTS
    linear: bool = False
    x_log: bool = False
    repeat: bool = False
    paste: str = ""

    def encoded(self) -> dict[str, str]:
        """The query parameters of the address; what is at its default is left out."""
        plain = CompareState(self.sides)
        out = {"v": VERSION}
        for letter, s in zip("abcd", self.sides, strict=False):
            out[letter] = f"{s.checkpoint}.{s.layer + 1}.{s.head + 1}"
        for name in ("length", "text", "view", "texts"):
            if getattr(self, name) != getattr(plain, name):
                out[name] = str(getattr(self, name))
        for name in ("linear", "x_log", "repeat"):
            if getattr(self, name):
                out[name] = "1"
        if self.text == "pasted" and len(self.paste) <= LONGEST_PASTE:
            out["paste"] = self.paste
        return out


def decoded(query: Mapping[str, str], default: CompareState) -> tuple[CompareState, list[str]]:
    """(the state that `query` asks for, a sentence for each part that could not be read).

    Whether checkpoints, texts and lengths exist is for the page to say; here only form counts.
    """
    if query.get("v", VERSION) != VERSION:
        return default, [
            f"This address is of version {query['v']!r}, and version {VERSION} was expected; "
            "the page shows its start instead."
        ]
    wrong = []

    def whole(name: str, low: int, high: int, otherwise: int) -> int:
        text = query.get(name, str(otherwise))
        if text.isdecimal() and low <= int(text[:9]) <= high:
            return int(text)
        wrong.append(
            f"Expected {name} in the address to be a number from {low:,} to {high:,}; "
            f"got {text[:40]!r}, so {otherwise:,} is shown."
        )
        return otherwise

    sides = []
    for letter in "abcd":
        if letter not in query:
            continue
        parts = query[letter].rsplit(".", 2)
        if len(parts) == 3 and all(p.isdecimal() and 0 < int(p[:4]) < 1000 for p in parts[1:]):
            sides.append(SideState(parts[0], int(parts[1]) - 1, int(parts[2]) - 1))
        else:
            wrong.append(
                f"Expected {letter} in the address as checkpoint.layer.head, such as rope.2.1; "
                f"got {query[letter][:40]!r}."
            )
    view = query.get("view", default.view)
    if view not in VIEWS:
        wrong.append(f"Expected view among {', '.join(VIEWS)}; got {view[:40]!r}.")
        view = default.view
    state = CompareState(
        sides=tuple(sides) or default.sides,
        length=whole("length", 1, 10**7, default.length),
        text=query.get("text", default.text),
        view=view,
        texts=whole("texts", 1, 64, default.texts),
        linear=query.get("linear") == "1",
        x_log=query.get("x_log") == "1",
        repeat=query.get("repeat") == "1",
        paste=query.get("paste", "")[:LONGEST_PASTE],
    )
    return state, wrong
