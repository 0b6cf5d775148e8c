"""A tray: pinned figures in an order and what they are drawn for, composed into one figure.

It is words alone: a small JSON, the parameters of an address, or the option --pins. What is read
is checked against what plates take before anything is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace

from viz_core.errors import AtlasError, UsageError
from viz_core.export import Export
from viz_core.export.provenance import PROGRAM
from viz_core.export.target import Target
from viz_core.plates import _composed
from viz_core.plates._contract import Options, Plate, Plot
from viz_core.plates._pins import LONGEST, SHOWN, Pin, of_word
from viz_core.progress import Progress, ignore, within
from viz_core.render import paper
from viz_core.words import mark, say

__all__ = ["MOST", "PLATE", "Pin", "Tray", "compose", "export"]

FORMAT = 1  # of the JSON and of addresses: raise it where an older reader would misread a newer one
MOST = 16  # pins
LARGEST = 1 << 16  # characters of JSON that are read
BETWEEN = "~~"  # pins of an address
SPACED = 1, 26  # panels in a row

Draw = Callable[[Pin, Progress], Plot]


@dataclass(frozen=True)
class Tray:
    """Pins in order, from left to right and from top to bottom, and what they are drawn for.

    `target.across` is how many panels stand in a row at most. JSON and addresses leave its
    language to whoever reads them.
    """

    pins: tuple[Pin, ...] = ()
    target: Target = field(default_factory=Target)

    def check(self, local: bool = True) -> None:
        """Raises an AtlasError where a figure, an option, a value, a venue or a width is none that
        there is; unless `local`, for checkpoints by path too."""
        if len(self.pins) > MOST:
            raise UsageError(
                say(
                    "Expected at most {most} figures in a tray; got {count:,}.",
                    most=MOST,
                    count=len(self.pins),
                )
            )
        for pin in self.pins:
            pin.read(local)
        across = self.target.across
        if across is not None and not SPACED[0] <= across <= SPACED[1]:
            raise UsageError(
                say(
                    "Expected {fewest} to {most} panels in a row; got {across:,}.",
                    fewest=SPACED[0],
                    most=SPACED[1],
                    across=across,
                )
            )
        self.target.sheet()

    def to_json(self) -> str:
        """The tray as ASCII JSON, equal for equal trays."""
        pins = [{"figure": pin.plate, "options": dict(pin.options)} for pin in self.pins]
        content = {"program": PROGRAM, "tray": FORMAT, "pins": pins, "target": _given(self.target)}
        return json.dumps(content, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, local: bool = False) -> Tray:
        """The tray of `to_json`. Raises an AtlasError, one sentence, for anything else.

        `local`: the file is the reader's own, and may name checkpoints by their paths.
        """
        try:
            if len(text) > LARGEST:
                raise ValueError(say("it is longer than {most:,} characters", most=LARGEST))
            found = _table(json.loads(text), say("the whole"))
            if (found.get("program"), found.get("tray")) != (PROGRAM, FORMAT):
                raise ValueError(say("it is of another program or version"))
            pins = found.get("pins")
            if not isinstance(pins, list):
                raise ValueError(say("its pins are no list"))
            tray = cls(tuple(_pin(one) for one in pins), _target(found.get("target")))
        except (ValueError, RecursionError) as error:
            deep = isinstance(error, RecursionError)
            raise AtlasError(
                say(
                    "Expected a tray of figures as JSON; it can't be read ({reason}). Take the "
                    "file as it was downloaded.",
                    reason=say("it is nested too deeply") if deep else error,
                )
            ) from None
        tray.check(local)
        return tray

    def to_query(self) -> dict[str, str]:
        """The parameters of an address, none of which needs escaping; what is at its default is
        left out."""
        query = {"v": str(FORMAT)}
        if self.pins:
            query["pins"] = BETWEEN.join(pin.word() for pin in self.pins)
        return query | {name: str(value) for name, value in _given(self.target).items()}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Tray:
        """The tray of `to_query`. Raises an AtlasError, one sentence, for anything else."""
        if query.get("v", str(FORMAT)) != str(FORMAT):
            raise UsageError(
                say(
                    "Expected an address of version {version}; got {came!r}.",
                    version=FORMAT,
                    came=query["v"][:SHOWN],
                )
            )
        words = query.get("pins", "")
        if len(words) > LARGEST:
            raise UsageError(
                say(
                    "Expected pins of at most {most:,} characters; got {size:,}.",
                    most=LARGEST,
                    size=len(words),
                )
            )
        target: dict[str, object] = {n: query[n] for n in _NAMES if n in query}
        for name in ("columns", "across"):
            if name in target:
                target[name] = _whole(name, query[name])
        try:
            aim = _target(target)
        except ValueError as error:
            raise UsageError(
                say("Expected a venue or a width in the address; {error}.", error=error)
            ) from None
        tray = cls(tuple(of_word(word) for word in words.split(BETWEEN) if words), aim)
        tray.check(local=False)
        return tray


def compose(tray: Tray, progress: Progress = ignore, draw: Draw = Pin.draw) -> Plot:
    """One figure of all pins, with a caption that says what each lettered panel is, and the
    sources and facts of all. `draw` draws a pin, or has kept it.

    Raises UsageError for an empty tray, and as pins do.
    """
    tray.check()
    if not tray.pins:
        raise UsageError(say("Expected figures in the tray; it is empty, so pin some first."))
    plots = []
    for i, pin in enumerate(tray.pins):
        here = within(progress, i / len(tray.pins), (i + 1) / len(tray.pins))
        plots.append(draw(pin, here))
    progress(1.0)
    return _composed.join(plots)


def export(
    tray: Tray,
    name: str = "figure",
    dpi: float = paper.DPI,
    progress: Progress = ignore,
    draw: Draw = Pin.draw,
) -> Export:
    """The composed figure, ready to be written as `name`; raises as `compose`."""

    def composed(options: Options, done: Progress) -> Plot:
        return compose(tray, done, draw)

    given = {"pins": [pin.word() for pin in tray.pins]}
    return replace(PLATE, draw=composed).export(given, tray.target, name, dpi, progress)


def _draw(options: Options, progress: Progress) -> Plot:
    pins: Sequence[str] = options["pins"]
    return compose(Tray(tuple(of_word(word) for word in pins)), progress)


_NAMES = tuple(one.name for one in fields(Target) if one.name != "language")


def _given(target: Target) -> dict[str, str | int]:
    """What isn't at its default."""
    plain, found = asdict(Target()), asdict(target)
    return {name: found[name] for name in _NAMES if found[name] != plain[name]}


def _table(value: object, what: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(say("{what} is no table of names and values", what=what))
    return value


def _pin(value: object) -> Pin:
    found = _table(value, say("a pin"))
    options = _table(found.get("options"), say("what a pin's figure shows"))
    words = {
        name: _word(option, say("the option {name}", name=name[:SHOWN]))
        for name, option in options.items()
    }
    return Pin(_word(found.get("figure"), say("the figure of a pin")), words)


def _target(value: object) -> Target:
    found = _table(value, say("what it is drawn for"))
    unknown = [name for name in found if name not in _NAMES]
    if unknown:
        raise ValueError(say("{name!r} is nothing that it is drawn for", name=unknown[0][:SHOWN]))
    plain = Target()
    venue, width = found.get("venue", plain.venue), found.get("width")
    return Target(
        _word(venue, say("the venue")),
        _number(found.get("columns"), "columns"),
        None if width is None else _word(width, say("the width")),
        _number(found.get("across"), "across"),
    )


def _word(value: object, what: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise ValueError(
            say("{what} is no word of at most {longest} characters", what=what, longest=LONGEST)
        )
    return value


def _number(value: object, what: str) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError(say("{name} is no whole number", name=what))
    return value


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 4):
        raise UsageError(
            say("Expected {name} to be a whole number; got {text!r}.", name=name, text=text[:SHOWN])
        )
    return int(text)


PLATE = Plate(
    "tray",
    mark("Pinned figures side by side"),
    {
        "pins": [
            "map~places-alibi.3.4",
            "curves~places-alibi.3.4",
            "map~places-rope.3.1",
            "curves~places-rope.3.1",
        ]
    },
    _draw,
    {"tray": {}},
)
