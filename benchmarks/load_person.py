"""What a simulated person does on Compare: another head, another length, a zoom, an upload.

Chance decides, from a seed of the person's own; the choices are few enough that one person alone
can afterwards look at every page that was seen.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field, replace

import websockets

from benchmarks import load_wire
from benchmarks.load_widgets import Value
from benchmarks.load_wire import Lost, Visitor
from pages.compare.controls import LENGTHS
from pages.compare.state import Box, CompareState, SideState
from pages.compare.zoom_controls import ENDS

PAIRS = (("alibi", "rope"), ("t5", "sinusoidal"))
PLACES = ((0, 1), (1, 4), (3, 6))  # layer and head, from 0
SIZES = (128, 256, 512, 1024)  # tokens
TEXTS = (2, 3, 4)
THINKING = (4.0, 12.0)  # seconds between one page and the next act
ACTS = {"head": 60, "length": 15, "zoom": 25}  # how often of a hundred
SENDS = 5  # every so manieth person brings a checkpoint of their own

Change = dict[str, Value]


@dataclass
class Told:
    """What a person has to tell: times by act, pages seen, and what went wrong."""

    seconds: list[tuple[str, float, float]] = field(default_factory=list)  # act, when, how long
    pages: dict[str, set[str]] = field(default_factory=dict)  # hashes by address
    maps: dict[str, set[str]] = field(default_factory=dict)  # of an own upload: numbers by address
    lost: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)  # pages that weren't what was asked for
    uploads: int = 0
    reopened: int = 0  # connections that broke and were taken up again


class Person:
    """One of the crowd; `own` is the file that they upload, if they do."""

    def __init__(self, number: int, own: bytes | None = None) -> None:
        self.told, self._chance, self._own = Told(), random.Random(number), own
        self._name = f"own-{number}"
        pair = PAIRS[number % len(PAIRS)]
        sides = tuple(SideState(name, *self._chance.choice(PLACES)) for name in pair)
        length, texts = self._chance.choice(SIZES), TEXTS[number % len(TEXTS)]
        self.state = CompareState(sides, length, texts=texts)

    async def live(self, url: str, until: float) -> None:
        """Acts and thinks until the time `until`, of time.monotonic; then leaves."""
        await asyncio.sleep(self._chance.uniform(0, THINKING[1]))
        try:
            async with load_wire.visit(url) as visitor:
                query = "&".join(f"{k}={v}" for k, v in self.state.encoded().items())
                self._note("first page", await visitor.go(query), visitor)
                send = time.monotonic() + self._chance.uniform(0.2, 0.5) * (
                    until - time.monotonic()
                )
                while time.monotonic() < until:
                    await asyncio.sleep(self._chance.uniform(*THINKING))
                    if self._own is not None and time.monotonic() > send:
                        await self._upload(visitor)
                    else:
                        await self._act(visitor)
                    self.told.reopened = visitor.reopened
        except (Lost, OSError, websockets.WebSocketException) as error:
            self.told.lost.append(str(error))

    async def _act(self, visitor: Visitor) -> None:
        act = self._chance.choices(list(ACTS), list(ACTS.values()))[0]
        if self.state.sides[0].box:
            act = "zoom"  # out first: a window belongs to a length
        change = {"head": self._head, "length": self._length, "zoom": self._zoom}[act](visitor)
        self._note(act, await visitor.act(change), visitor)

    def _head(self, visitor: Visitor) -> Change:
        i = self._chance.randrange(2)
        old = self.state.sides[i]
        layer, head = self._chance.choice([p for p in PLACES if p != (old.layer, old.head)])
        self._put(i, replace(old, layer=layer, head=head))
        values = {f"layer{i}": layer, f"head{i}": head}
        return {name: {"string_value": str(value + 1)} for name, value in values.items()}

    def _length(self, visitor: Visitor) -> Change:
        length = self._chance.choice([n for n in SIZES if n != self.state.length])
        self.state = replace(self.state, length=length)
        name = visitor.options("length")[LENGTHS.index(length)]
        return {"length": {"string_array_value": {"data": [name]}}}

    def _zoom(self, visitor: Visitor) -> Change:
        """Into a window by its exact range, or back to the whole map by the breadcrumbs."""
        n, out = self.state.length, self.state.sides[0].box
        box = None if out else self._chance.choice(_windows(n))
        for i, side in enumerate(self.state.sides):
            self._put(i, side.on(box))
        if box is None:
            return {"crumb0_0": {"trigger_value": True}}
        places = [place for first, end in box for place in (first, end - 1)]
        typed: Change = {
            name: {"double_value": place} for name, place in zip(ENDS, places, strict=True)
        }
        return typed | {"FormSubmitter:exact-Show": {"trigger_value": True}}

    async def _upload(self, visitor: Visitor) -> None:
        """The own checkpoint, sent on its page and then looked at on Compare."""
        assert self._own is not None
        await visitor.go(page="checkpoints")
        taken = await visitor.put("uploads_0_0", f"{self._name}.safetensors", self._own)
        self.told.seconds.append(("upload", time.monotonic(), taken))
        self.told.uploads += 1
        self.told.strange += visitor.wrong()
        self._own = None
        await visitor.go()  # as one comes back to it
        strangers = [name for name in visitor.options("checkpoint0") if "own-" in name]
        if len(strangers) != 1 or self._name not in strangers[0]:
            self.told.strange.append(f"{self._name} was offered {strangers}")
            return
        found = await visitor.act({"checkpoint0": {"string_value": strangers[0]}})
        shown = load_wire.parsed(visitor.query)
        self._put(0, replace(self.state.sides[0], checkpoint=shown["a"].rsplit(".", 2)[0]))
        self._note("own checkpoint", found, visitor)

    def _put(self, i: int, side: SideState) -> None:
        sides = list(self.state.sides)
        sides[i] = side
        self.state = replace(self.state, sides=tuple(sides))

    def _note(self, act: str, seconds: float, visitor: Visitor) -> None:
        """Keeps what is seen now; `strange` if it isn't what was asked for."""
        self.told.seconds.append((act, time.monotonic(), seconds))
        asked, shown = self.state.encoded(), load_wire.parsed(visitor.query)
        whole, numbers = visitor.seen()
        if asked != shown or visitor.wrong():
            self.told.strange.append(f"{act}: asked {asked}, shown {shown} {visitor.wrong()}")
        if self._name in visitor.query:
            name = self.state.sides[0].checkpoint
            self.told.maps.setdefault(visitor.query.replace(name, "rope"), set()).add(numbers)
        else:
            self.told.pages.setdefault(visitor.query, set()).add(whole)


def _windows(length: int) -> list[Box]:
    """Those that people look at: late queries on early keys, and a block on the diagonal."""
    half, quarter = length // 2, length // 4
    return [((half, length), (0, half)), ((quarter, half), (quarter, half))]
