"""What an address asks of a page, read part by part: what can't be read gets a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from viz_core.words import say

VERSION = "1"  # of all addresses
LONGEST = 80  # characters of a name in an address
SOME = 6  # names that a sentence lists
LONGEST_PASTE = 2000  # characters of a text of one's own that an address can carry
SAID = 40  # characters of what came, in the sentence about it


def unknown(name: str, known: Sequence[str], value: str) -> str:
    """A sentence about a name in the address, `value`, which is none of those `known`."""
    some, value = say(", ").join(known[:SOME]), value[:SAID]
    if len(known) > SOME:
        return say(
            "Expected {name} in the address among {known} and others; got {value!r}, so another is "
            "shown.",
            name=name,
            known=some,
            value=value,
        )
    return say(
        "Expected {name} in the address among {known}; got {value!r}, so another is shown.",
        name=name,
        known=some,
        value=value,
    )


def number(text: str, low: int, high: int) -> int | None:
    """The whole number that `text` is, from `low` to `high`; None where it isn't one of these."""
    if not re.fullmatch("[0-9]{1,9}", text):  # Python refuses to read the longest
        return None
    found = int(text)
    return found if low <= found <= high else None


class Asked:
    """The parameters of an address; where one is missing or wrong, that of `plain` stands.

    `plain` is the state that the page starts with. `wrong` gathers a sentence for each part that
    could not be read, in the language spoken here.
    """

    def __init__(self, query: Mapping[str, str], plain: object) -> None:
        self.query, self._plain = query, plain
        self.wrong: list[str] = []

    def among(self, name: str, known: Iterable[object]) -> str:
        """The parameter `name`, which is one of `known`."""
        default = str(getattr(self._plain, name))
        value = self.query.get(name, default)
        words = [str(one) for one in known]
        if value in words:
            return value
        self.wrong.append(
            say(
                "Expected {name} in the address among {known}; got {value!r}, so {default} is "
                "shown.",
                name=name,
                known=say(", ").join(words),
                value=value[:SAID],
                default=default,
            )
        )
        return default

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """The parameter `name`, a number from `low` to `high`; else `default`, or `plain`'s."""
        if default is None:
            default = int(getattr(self._plain, name))
        value = self.query.get(name, str(default))
        found = number(value, low, high)
        if found is not None:
            return found
        self.wrong.append(
            say(
                "Expected {name} in the address to be a number from {low:,} to {high:,}; got "
                "{value!r}, so {default:,} is shown.",
                name=name,
                low=low,
                high=high,
                value=value[:SAID],
                default=default,
            )
        )
        return default

    def names(self, *parts: str) -> dict[str, str]:
        """Parameters that are names, cut short; whether there is such a thing is not known here."""
        return {n: self.query.get(n, str(getattr(self._plain, n)))[:LONGEST] for n in parts}


def foreign(query: Mapping[str, str]) -> list[str]:
    """A sentence about an address of another version, of which nothing is read; else none."""
    version = query.get("v", VERSION)
    if version == VERSION:
        return []
    return [
        say(
            "This address is of version {found!r}, and version {expected} was expected; the page "
            "shows its start instead.",
            found=version[:SAID],
            expected=VERSION,
        )
    ]
