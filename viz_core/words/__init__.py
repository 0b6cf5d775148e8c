"""The words of the interface, in the language of whoever reads them.

English stands in the code, where its meaning is plain; every other language is one file beside this
one, a PO file as translators' tools read it. `make words` gathers what the code says into
those files, sorted by the English and without places in the code: moving code changes nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from babel.messages.pofile import read_po

FOLDER = Path(__file__).parent
LANGUAGES = {"en": "English", "zh": "中文"}  # by their own names
PLAIN = "en"  # the language of the code

# One value per context: two visitors' script runs never mix.
_spoken: ContextVar[str] = ContextVar("language", default=PLAIN)


def say(message: str, /, **fields: object) -> str:
    """`message` in the language spoken here, its {fields} filled in as `str.format` does.

    Without fields the message is taken as it is, braces included. English where a translation is
    missing.
    """
    found = _translations(_spoken.get()).get(message, message)
    return found.format(**fields) if fields else found


def mark(message: str) -> str:
    """`message` itself: marks words that stand in a constant and are said later, by `say`."""
    return message


def sentences(*said: str) -> str:
    """What was said, one after the other, without what is empty; after 。 there is no space."""
    return " ".join(one for one in said if one).replace("。 ", "。")


def language() -> str:
    """The language spoken here, a key of `LANGUAGES`."""
    return _spoken.get()


def speak(language: str) -> None:
    """From here on, in this context. `language` is a key of `LANGUAGES`."""
    _spoken.set(language if language in LANGUAGES else PLAIN)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Within it, `say` speaks `language`, a key of `LANGUAGES`."""
    before = _spoken.set(language if language in LANGUAGES else PLAIN)
    try:
        yield
    finally:
        _spoken.reset(before)


@lru_cache(maxsize=len(LANGUAGES))
def _translations(language: str) -> Mapping[str, str]:
    if language == PLAIN:
        return {}
    with (FOLDER / f"{language}.po").open("rb") as file:
        catalogue = read_po(file, locale=language, ignore_obsolete=True)
    return {str(m.id): str(m.string) for m in catalogue if m.id and m.string}
