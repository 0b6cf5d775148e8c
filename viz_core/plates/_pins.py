"""A pin: one figure as a name and options in words, so small that it fits into an address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from viz_core import plates
from viz_core.errors import UnknownName, UsageError
from viz_core.plates._contract import Options, Plot
from viz_core.progress import Progress, ignore
from viz_core.words import mark, say

LONGEST = 200  # characters of a word
FARTHEST = 1 << 17  # tokens of a text that a pin from elsewhere may ask for
SHOWN = 40  # characters of a wrong word that are repeated
_WORD = re.compile(r"(?:[a-z0-9-]+)(?:~[a-z_]+-[A-Za-z0-9_.-]*)*")
_ESCAPED = re.compile(rb"__|_([0-9a-f]{2})")


@dataclass(frozen=True)
class Pin:
    """The figure of the plate called `plate`, with `options` as the command line spells them.

    Names are those of the plate's options, "other_heads"; values are words, "1,6,8". What is left
    out has the plate's default.
    """

    plate: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, plate: str, **values: Any) -> Pin:
        """The pin of option values as `Plate.draw` takes them, without those at their defaults.

        Raises UnknownName for another plate, UsageError for an option that it doesn't take.
        """
        known = plates.get(plate)
        known.check(values)
        return cls(
            plate,
            {
                name: ",".join(map(str, value)) if isinstance(value, list) else str(value)
                for name, value in values.items()
                if value is not None and value != known.options[name]
            },
        )

    def read(self, local: bool = True) -> Options:
        """Every option of the plate with its value, read as the command line reads it.

        Raises UnknownName for another plate, and UsageError for an option or a value that it
        doesn't take. Unless `local`, a checkpoint can't be a path, which says nothing elsewhere,
        nor a table, nor a text so long that reading it alone would stop a server.
        """
        if self.plate not in plates.all_plates() or self.plate == "tray":
            known = [name for name in plates.all_plates() if name != "tray"]
            raise UnknownName(mark("a figure"), self.plate[:SHOWN], known)
        for value in self.options.values():
            if len(value) > LONGEST:
                raise UsageError(
                    say(
                        "Expected options of at most {longest} characters; got one of {size:,}.",
                        longest=LONGEST,
                        size=len(value),
                    )
                )
        found = plates.get(self.plate).read(self.options)
        for name in () if local else (*found.get("checkpoints", ()), *found.get("places", ())):
            if re.search(r"[/\\]|\.safetensors", name):
                raise UsageError(
                    say(
                        "Expected shipped checkpoints; got the path {path!r}, which only the "
                        "command line can open.",
                        path=name[:SHOWN],
                    )
                )
        if not local and found.get("table"):
            raise UsageError(
                say(
                    "Expected a figure of what is shipped; got the table {name!r}, which only the "
                    "command line can open.",
                    name=found["table"][:SHOWN],
                )
            )
        if not local and (found.get("length") or 0) > FARTHEST:
            raise UsageError(
                say(
                    "Expected a length up to {farthest:,} tokens here; got {length:,}, which only "
                    "the command line takes.",
                    farthest=FARTHEST,
                    length=found["length"],
                )
            )
        return found

    def draw(self, progress: Progress = ignore) -> Plot:
        """The figure, with its sources. Raises as `read` and the plate do."""
        return plates.get(self.plate).draw(self.read(), progress)

    def word(self) -> str:
        """The pin as one word that needs no escaping in an address: stairs~layer-3~texts-8."""
        return "~".join([self.plate, *(f"{n}-{_escaped(v)}" for n, v in self.options.items())])


def of_word(word: str) -> Pin:
    """The pin of a word, not yet known to be one of a plate. Raises UsageError for any other."""
    if not _WORD.fullmatch(word):
        raise UsageError(
            say("Expected a pinned figure such as stairs~layer-3; got {word!r}.", word=word[:SHOWN])
        )
    plate, *rest = word.split("~")
    parts = [part.partition("-") for part in rest]
    return Pin(plate, {name: _plain(value) for name, _, value in parts})


def _escaped(value: str) -> str:
    """Letters, digits, dots and hyphens as they are, a comma as __, all else as _xx: its bytes."""
    plain = re.sub(rb"[^A-Za-z0-9.,-]", lambda found: b"_%02x" % found[0][0], value.encode())
    return plain.decode().replace(",", "__")


def _plain(value: str) -> str:
    def byte(found: re.Match[bytes]) -> bytes:
        return bytes.fromhex(found[1].decode()) if found[1] else b","

    return _ESCAPED.sub(byte, value.encode()).decode(errors="replace")
