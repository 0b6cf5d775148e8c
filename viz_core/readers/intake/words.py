"""How the intake speaks of what it was given: names made fit to be shown, and one kind of sentence.

Names and values come from strangers: they may be endless, hold control characters, or turn the
direction of writing. (HTML and Markdown are the page's matter: it knows what it writes into.)
"""

from __future__ import annotations

from pathlib import PurePath

from viz_core.errors import DamagedCheckpoint

LONGEST = 80  # characters of a name that are shown


def shown(name: object) -> str:
    """`name` in quotes, on one line, with what can't be printed escaped; cut in its middle."""
    text = str(name) if isinstance(name, (str, PurePath)) else repr(name)
    text = f"{text[:LONGEST]}…{text[-LONGEST:]}" if len(text) > 2 * LONGEST else text
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 21]}…{text[-20:]}"
    return f"'{text}'"


def listed(names: list[str], most: int = 5) -> str:
    """The first `most` of `names`, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(shown(name) for name in names[:most]) + more


def size(number: int) -> str:
    """A number of bytes for people: 1.5 GiB."""
    value, unit = float(number), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{number:,} bytes" if unit == "bytes" else f"{value:.1f} {unit}"


def damaged(
    name: object, expected: str, came: str, do: str = "save or download it again"
) -> DamagedCheckpoint:
    """What is raised for the file `name`: what was expected in it, what came, what to do."""
    named = name.name if isinstance(name, PurePath) else name
    return DamagedCheckpoint(f"Expected {expected} in {shown(named)}; {came}, so {do}.")
