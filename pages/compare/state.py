"""The state of Compare as the address carries it: short, versioned, checked on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pages._shared import decoding
from pages._shared.boxes import Box, seen
from pages._shared.decoding import LONGEST_PASTE, SAID, VERSION
from viz_core.types import Range
from viz_core.words import say

MOST_SIDES = 4
HIGHEST = 999  # of a layer, of a head
SIDES = "abcd"  # their names in an address; "za" is the window of "a"
VIEWS = ("mean", "centred", "one")
POOLINGS = ("mean", "max")
SORTS = ("place", "reach", "ripple", "sink", "entropy")  # of the wall; place: layer and head
TEXTS = 6  # texts in a mean, at first


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
    if wrong := decoding.foreign(query):
        return default, wrong
    asked = decoding.Asked(query, default)

    def window(letter: str) -> Box | None:
        text = query.get(f"z{letter}")
        box = None if text is None else _box(text)
        if text is not None and box is None:
            asked.wrong.append(
                say(
                    "Expected {name} in the address as queries.keys, such as 512-767.0-255, with "
                    "some key not after some query; got {found!r}, so the whole map is shown.",
                    name="z" + letter,
                    found=text[:SAID],
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
        place = [decoding.number(part, 1, HIGHEST) for part in parts[1:]]
        if len(place) == 2 and place[0] and place[1]:
            sides.append(SideState(parts[0], place[0] - 1, place[1] - 1).on(box))
        else:
            asked.wrong.append(
                say(
                    "Expected {name} in the address as checkpoint.layer.head, such as rope.2.1; "
                    "got {found!r}.",
                    name=letter,
                    found=query[letter][:SAID],
                )
            )
    state = CompareState(
        sides=tuple(sides)
        or tuple(s.on(box) for s, box in zip(default.sides, boxes, strict=False)),
        length=asked.whole("length", 1, 10**7),
        text=query.get("text", default.text),
        view=asked.among("view", VIEWS),
        texts=asked.whole("texts", 1, 64),
        linear=query.get("linear") == "1",
        x_log=query.get("x_log") == "1",
        repeat=query.get("repeat") == "1",
        marks=query.get("marks") == "1",
        paste=query.get("paste", "")[:LONGEST_PASTE],
        linked=linked,
        pooling=asked.among("pooling", POOLINGS),
        sort=asked.among("sort", SORTS),
    )
    return state, asked.wrong


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
