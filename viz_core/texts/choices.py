"""The list of texts to choose from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from viz_core.texts.sources import HELD_OUT, MANUAL, PERIOD, PROSE, RANDOM, REPEATED, held_out
from viz_core.words import mark, say

WORKS = {
    "austen": mark("Jane Austen"),
    "mhcc": mark("Matthew Henry"),
    "sotu": mark("State of the Union"),
    "tdavid": mark("The Treasury of David"),
    "web": mark("English Bible"),  # edited: not by its own name
}


@dataclass(frozen=True)
class TextChoice:
    """One entry of the list, in the language spoken where it was made."""

    id: str
    title: str
    about: str


def available(corpus: Path | None = None) -> list[TextChoice]:
    """All texts by name, with the held-out ones in the folder `corpus`. CorpusError if damaged."""
    found = [
        TextChoice(
            MANUAL, say("Python manual"), say("Python's language reference, 465,000 characters.")
        ),
        TextChoice(PROSE, say("A page of prose"), say("An essay written for this project.")),
        TextChoice(
            RANDOM, say("Random tokens"), say("Seeded, without any order: no content to follow.")
        ),
        TextChoice(
            REPEATED,
            say("Repeated tokens"),
            say("{period} random tokens, again and again.", period=PERIOD),
        ),
    ]
    if held := held_out(corpus):
        found.append(
            TextChoice(HELD_OUT, say("Held-out documents"), say("The starts of several of them."))
        )
    for d in held:
        name = re.sub("[-_](.$)?", " ", d.id.rpartition("/")[2]).strip().title()  # less the party
        work = say(WORKS.get(d.source, d.source))
        title = say("{work}: {name} (held out)", work=work, name=name)
        found.append(
            TextChoice(f"{HELD_OUT}/{d.id}", title, say("{count:,} characters.", count=len(d.text)))
        )
    return found
