"""How the intake speaks of what it was given: names made fit to be shown, and one kind of sentence.

Names and values come from strangers: they may be endless, hold control characters, or turn the
direction of writing. (HTML and Markdown are the page's matter: it knows what it writes into.)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from viz_core.errors import DamagedCheckpoint
from viz_core.words import say

LONGEST = 80  # characters of a name that are shown
FIRST = 5  # names of a list that are shown


def shown(name: object) -> str:
    """`name` in quotes, on one line, with what can't be printed escaped; cut in its middle."""
    text = str(name) if isinstance(name, (str, PurePath)) else repr(name)
    text = f"{text[:LONGEST]}…{text[-LONGEST:]}" if len(text) > 2 * LONGEST else text
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 21]}…{text[-20:]}"
    return f"'{text}'"


def listed(names: Sequence[str], most: int = FIRST, count: int | None = None) -> str:
    """The first `most` of `names`, and how many more there are, if there are `count` in all."""
    count = len(names) if count is None else count
    first = ", ".join(shown(name) for name in names[:most])
    if count <= most:
        return first
    return say("{names} and {n:,} more", names=first, n=count - most)


def size(number: int) -> str:
    """A number of bytes for people: 1.5 GiB."""
    value, unit = float(number), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return say("{n:,} bytes", n=number) if unit == "bytes" else f"{value:.1f} {unit}"


def damaged(name: object, expected: str, came: str, do: str = "") -> DamagedCheckpoint:
    """What is raised for the file `name`: what was expected in it, what came, what to do.

    Each is said already; without `do`, to save or to download it again.
    """
    named = name.name if isinstance(name, PurePath) else name
    return DamagedCheckpoint(
        say(
            "Expected {expected} in {file}; {came}, so {do}.",
            expected=expected,
            file=shown(named),
            came=came,
            do=do or say("save or download it again"),
        )
    )
