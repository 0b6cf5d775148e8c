"""The state of Compare as the address carries it: short, versioned, checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from viz_core.types import Range
from viz_core.words import say

VERSION = "1"
LONGEST_PASTE = 2000  # characters that an address can carry
MOST_SIDES = 4
SIDES = "abcd"  # their names in an address; "za" is the window of "a"
VIEWS = ("mean", "centred", "one")
POOLINGS = ("mean", "max")
SORTS = ("place", "reach", "ripple", "sink", "entropy")  # of the wall; place: layer and head
TEXTS = 6  # texts in a mean, at first

Box = tuple[Range, Range]  # queries and keys, the ends excluded


@dataclass(frozen=True)
class SideState:
    """One map: checkpoint id, layer and head, counted from 0 here and from 1 in the address.

    `rows`, `columns` are the queries and keys shown, the ends excluded; None shows all.
    """

    checkpoint: str
    layer: int
    head: int
    rows: Range | None = None
    columns: Range | None = None

    @property
    def box(self) -> Box | None:
        """The window; None for the whole map."""
        return (self.rows, self.columns) if self.rows and self.columns else None

    def on(self, box: Box | None) -> SideState:
        """The same head on another window."""
        rows, columns = box or (None, None)
        return replace(self, rows=rows, columns=columns)


@dataclass(frozen=True)
class CompareState:
    """Everything that the page shows follows from this. While `linked`, all windows are one.

    `marks`: whether maps and curves say where to look.
    """

    sides: tuple[SideState, ...]
    length: int = 1024
    text: str = "python-docs"
    view: str = "mean"
    texts: int = TEXTS
    linear: bool = False
    x_log: bool = False
    repeat: bool = False
    paste: str = ""
    linked: bool = True
    pooling: str = "mean"
    sort: str = "place"
    marks: bool = False

    def encoded(self) -> dict[str, str]:
        """The query parameters of the address; what is at its default is left out."""
        plain = CompareState(self.sides)
        out = {"v": VERSION}
        for letter, s in zip(SIDES, self.sides, strict=False):
            out[letter] = f"{s.checkpoint}.{s.layer + 1}.{s.head + 1}"
        for name in ("length", "text", "view", "texts", "pooling", "sort"):
            if getattr(self, name) != getattr(plain, name):
                out[name] = str(getattr(self, name))
        for name in ("linear", "x_log", "repeat", "marks"):
            if getattr(self, name):
                out[name] = "1"
        if not self.linked:
            out["linked"] = "0"
        for letter, s in zip(SIDES, self.sides[:1] if self.linked else self.sides, strict=False):
            if s.box:
                out[f"z{letter}"] = ".".join(f"{a}-{b - 1}" for a, b in s.box)
        if self.text == "pasted" and len(self.paste) <= LONGEST_PASTE:
            out["paste"] = self.paste
        return out


def decoded(query: Mapping[str, str], default: CompareState) -> tuple[CompareState, list[str]]:
    """(the state that `query` asks for, a sentence for each part that could not be read).

    Whether checkpoints, texts, lengths and windows exist is for the page to say; here only form
    counts.
    """
    if query.get("v", VERSION) != VERSION:
        return default, [
            say(
                "This address is of version {found!r}, and version {expected} was expected; the "
                "page shows its start instead.",
                found=query["v"][:40],
                expected=VERSION,
            )
        ]
    wrong = []

    def whole(name: str, low: int, high: int, otherwise: int) -> int:
        text = query.get(name, str(otherwise))
        if text.isdecimal() and low <= int(text[:9]) <= high:
            return int(text)
        wrong.append(
            say(
                "Expected {name} in the address to be a number from {low:,} to {high:,}; got "
                "{found!r}, so {otherwise:,} is shown.",
                name=name,
                low=low,
                high=high,
                found=text[:40],
                otherwise=otherwise,
            )
        )
        return otherwise

    def among(name: str, known: tuple[str, ...], otherwise: str) -> str:
        text = query.get(name, otherwise)
        if text in known:
            return text
        wrong.append(
            say(
                "Expected {name} in the address among {known}; got {found!r}.",
                name=name,
                known=", ".join(known),
                found=text[:40],
            )
        )
        return otherwise

    def window(letter: str) -> Box | None:
        text = query.get(f"z{letter}")
        box = None if text is None else _box(text)
        if text is not None and box is None:
            wrong.append(
                say(
                    "Expected {name} in the address as queries.keys, such as 512-767.0-255, with "
                    "some key not after some query; got {found!r}, so the whole map is shown.",
                    name=f"z{letter}",
                    found=text[:40],
                )
            )
        return box

    linked = query.get("linked") != "0"
    boxes = [window(SIDES[0])] * MOST_SIDES if linked else [window(letter) for letter in SIDES]
    sides = []
    for letter, box in zip(SIDES, boxes, strict=True):
        if letter not in query:
            continue
        parts = query[letter].rsplit(".", 2)
        if len(parts) == 3 and all(p.isdecimal() and 0 < int(p[:4]) < 1000 for p in parts[1:]):
            side = SideState(parts[0], int(parts[1]) - 1, int(parts[2]) - 1)
            sides.append(side.on(box))
        else:
            wrong.append(
                say(
                    "Expected {name} in the address as checkpoint.layer.head, such as rope.2.1; "
                    "got {found!r}.",
                    name=letter,
                    found=query[letter][:40],
                )
            )
    state = CompareState(
        sides=tuple(sides)
        or tuple(s.on(box) for s, box in zip(default.sides, boxes, strict=False)),
        length=whole("length", 1, 10**7, default.length),
        text=query.get("text", default.text),
        view=among("view", VIEWS, default.view),
        texts=whole("texts", 1, 64, default.texts),
        linear=query.get("linear") == "1",
        x_log=query.get("x_log") == "1",
        repeat=query.get("repeat") == "1",
        marks=query.get("marks") == "1",
        paste=query.get("paste", "")[:LONGEST_PASTE],
        linked=linked,
        pooling=among("pooling", POOLINGS, default.pooling),
        sort=among("sort", SORTS, default.sort),
    )
    return state, wrong


def seen(box: Box) -> bool:
    """Whether some key of the window lies not after some query of it."""
    (_, last), (first, _) = box
    return first < last


def _box(text: str) -> Box | None:
    """ "512-767.0-255", both ends within, as ((512, 768), (0, 256)); None if it is no window."""
    found = []
    for part in text.split("."):
        ends = part.split("-")
        if len(ends) != 2 or not all(e.isdecimal() and len(e) < 9 for e in ends):
            return None
        found.append((int(ends[0]), int(ends[1]) + 1))
    box = (found[0], found[1]) if len(found) == 2 else None
    return box if box and all(a < b for a, b in box) and seen(box) else None
