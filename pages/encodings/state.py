"""The state of Encodings as the address carries it: short, versioned, checked on the way in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pages._shared import decoding
from pages._shared.boxes import Box, seen
from pages._shared.decoding import VERSION
from viz_core.alone.words import knobs
from viz_core.encodings import Parameter, Value, all_encodings
from viz_core.errors import UnknownName, UsageError
from viz_core.figures.attention_maps import ranges
from viz_core.words import say

SIDES = "ab"  # their names in an address
HEADS, WIDTH = (1, 64), (1, 256)  # of heads, and of channels in a head
TRAINED, LENGTH = (16, 131_072), (16, 16_384)  # tokens
MOST = 12  # parameters of one encoding in an address


@dataclass(frozen=True)
class AtlasSide:
    """One encoding by id, and those of its knobs that are not at their defaults, by name."""

    encoding: str
    values: tuple[tuple[str, Value], ...] = ()

    def encoded(self) -> str:
        """The word of an address: rope~scaling-yarn~factor-4."""
        return "~".join([self.encoding, *(f"{name}-{_plain(v)}" for name, v in self.values)])


@dataclass(frozen=True)
class AtlasState:
    """Everything that the page shows follows from this.

    `width` is a head's, in channels; `trained` is L and `length` N, in tokens; `head` counts from
    0 here and from 1 in the address; `box` is the part of the maps that is shown, None for all.
    """

    sides: tuple[AtlasSide, ...] = (AtlasSide("alibi"), AtlasSide("rope"))
    heads: int = 8
    width: int = 32
    trained: int = 512
    length: int = 1024
    head: int = 3
    x_log: bool = False
    box: Box | None = None

    def encoded(self) -> dict[str, str]:
        """The query parameters of the address; what is at its default is left out."""
        plain = AtlasState()
        out = {"v": VERSION}
        if self.sides != plain.sides:
            out |= {x: side.encoded() for x, side in zip(SIDES, self.sides, strict=False)}
        for name in ("heads", "width", "trained", "length"):
            if getattr(self, name) != getattr(plain, name):
                out[name] = str(getattr(self, name))
        if self.head != plain.head:
            out["head"] = str(self.head + 1)
        if self.x_log:
            out["x_log"] = "1"
        if self.box:
            out["z"] = ".".join(f"{a}-{b - 1}" for a, b in self.box)
        return out


def decoded(query: Mapping[str, str]) -> tuple[AtlasState, list[str]]:
    """(the state that `query` asks for, a sentence for each part that could not be read).

    Whether an encoding takes these sizes together is for the encoding to say.
    """
    plain = AtlasState()
    if wrong := decoding.foreign(query):
        return plain, wrong
    asked = decoding.Asked(query, plain)
    given = [_side(query[x], x, asked.wrong) for x in SIDES if x in query]
    sides = tuple(side for side in given if side is not None)
    heads = asked.whole("heads", *HEADS)
    head = asked.whole("head", 1, heads, min(plain.head + 1, heads)) - 1
    length = asked.whole("length", *LENGTH)
    state = AtlasState(
        sides=sides or plain.sides,
        heads=heads,
        width=asked.whole("width", *WIDTH),
        trained=asked.whole("trained", *TRAINED),
        length=length,
        head=head,
        x_log=query.get("x_log") == "1",
        box=_box(query["z"], length, asked.wrong) if "z" in query else None,
    )
    return state, asked.wrong


def fits(box: Box, length: int) -> bool:
    """Whether a text of `length` tokens holds the window, and the window some pair."""
    return all(0 <= a < b <= length for a, b in box) and seen(box)


def _side(text: str, letter: str, wrong: list[str]) -> AtlasSide | None:
    """The side of a word in an address; None, and a sentence in `wrong`, for an unknown one."""
    name, *words = text.split("~")[: MOST + 1]
    known = all_encodings()
    if name not in known:
        wrong.append(
            say(
                "Expected {letter} in the address to begin with one of {names}; got {got!r}, so "
                "that encoding is left out.",
                letter=letter,
                names=say(", ").join(known),
                got=name[: decoding.SAID],
            )
        )
        return None
    parameters = {p.name: p for p in knobs(known[name])}
    values: dict[str, Value] = {}
    for word in words:
        key, _, value = word.partition("-")
        try:
            if key not in parameters:
                what = say("a parameter of {encoding}", encoding=name)
                raise UnknownName(what, key[: decoding.SAID], list(parameters) or [say("none")])
            values[key] = parameters[key].check(value[: decoding.SAID])
        except UsageError as error:
            wrong.append(say("{error} in the address, so it is left out.", error=str(error)[:-1]))
    return AtlasSide(name, chosen(parameters.values(), values))


def chosen(
    parameters: Iterable[Parameter], values: Mapping[str, Value]
) -> tuple[tuple[str, Value], ...]:
    """Those of `values` that are not at their defaults, in the order of `parameters`."""
    every = [(p.name, values.get(p.name, p.default), p.default) for p in parameters]
    return tuple((name, value) for name, value, default in every if value != default)


def _box(text: str, length: int, wrong: list[str]) -> Box | None:
    """The window of "512-767.0-255", both ends within; None and a sentence if it is none."""
    found = re.fullmatch(r"([0-9]{1,8})-([0-9]{1,8})\.([0-9]{1,8})-([0-9]{1,8})", text)
    if found:
        a, b, c, d = (int(number) for number in found.groups())
        box = (a, b + 1), (c, d + 1)
        if fits(box, length):
            return box
        what = ranges(*box) if a <= b and c <= d else repr(text)
    else:
        what = repr(text[: decoding.SAID])
    wrong.append(
        say(
            "Expected z in the address as queries.keys, such as 512-767.0-255, with some key not "
            "after some query and all of them among {length:,} tokens; got {got}, so the whole map "
            "is shown.",
            length=length,
            got=what,
        )
    )
    return None


def _plain(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"
