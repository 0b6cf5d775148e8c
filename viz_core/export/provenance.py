"""Where a figure comes from, as JSON that travels in every file of it, and back.

What is read from a file is data alone: known names with values of known types, checked; nothing in
it is run, and a figure is drawn from it only through the command line's own options.
"""

from __future__ import annotations

import hashlib
import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from viz_core import words
from viz_core.errors import AtlasError
from viz_core.words import say

FORMAT = 1  # of the JSON: raise it where an older reader would misread a newer file
PROGRAM = "Attention Atlas"
VERSION = "0.1.0"
LONGEST = 1 << 20  # characters of JSON that are read

Plain = str | int | float | bool | None
Facts = Mapping[str, Plain | Sequence[Plain]]


@dataclass(frozen=True)
class Source:
    """A checkpoint, text or table that a figure was made from, and the sha256 of its bytes (of a
    text: of its token ids). `caveat`: what was assumed of a checkpoint, and how
    its texts begin."""

    what: str
    name: str
    sha256: str
    caveat: str = ""


@dataclass(frozen=True)
class Provenance:
    """What was drawn from what, and how to draw it again.

    `figure` and `options` name a plate and all of its options; `target` what it was drawn for
    (venue, columns, width, across, language; without one, English). `data`: sha256 of the figure's
    arrays. `facts`: how they were made (length, layer, heads, estimator, normalisation, sink).
    `version`: of this program.
    """

    figure: str
    options: Facts
    target: Facts
    sources: tuple[Source, ...]
    facts: Facts
    data: str
    version: str = VERSION

    @property
    def command(self) -> str:
        """The command that draws it again, without where it goes."""
        return " ".join(["python -m viz_core figure", shlex.join(self.words())])

    def words(self) -> list[str]:
        """The arguments of the command `figure`: its name, and what isn't None or English."""
        found = [self.figure]
        for name, value in {**self.options, **self.target}.items():
            if value not in (None, []) and (name, value) != ("language", words.PLAIN):
                shown = ",".join(map(str, value)) if isinstance(value, list) else str(value)
                found += [f"--{name.replace('_', '-')}={shown}"]
        return found

    def json(self, indent: int | None = None) -> str:
        """The whole as ASCII JSON, equal for equal content."""
        content = {"format": FORMAT, "program": PROGRAM, **asdict(self), "command": self.command}
        content["sources"] = [{n: v for n, v in asdict(s).items() if v} for s in self.sources]
        return json.dumps(content, indent=indent, allow_nan=False)


def parsed(text: str, name: str) -> Provenance:
    """The provenance in JSON from the file called `name`. Raises AtlasError for anything else."""
    try:
        if len(text) > LONGEST:
            raise ValueError(say("it is too long"))
        found = json.loads(text)
        if found["program"] != PROGRAM or found["format"] != FORMAT:
            raise ValueError(say("it is of another program or version"))
        return Provenance(
            figure=_word(found["figure"]),
            options=_facts(found["options"]),
            target=_facts(found["target"]),
            sources=tuple(
                Source(
                    what=_word(s["what"]),
                    name=_word(s["name"]),
                    sha256=_word(s["sha256"]),
                    caveat=_word(s.get("caveat", "")),
                )
                for s in found["sources"]
            ),
            facts=_facts(found["facts"]),
            data=_word(found["data"]),
            version=_word(found["version"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise AtlasError(
            say(
                "Expected a figure of this program with its provenance in {name}; it can't be read "
                "({error}). Take the file as it was exported, or the .json beside it.",
                name=name,
                error=error,
            )
        ) from None


def digest(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """The sha256 of named arrays: of their names, types, shapes and bytes, in order."""
    found = hashlib.sha256()
    for name, array in arrays.items():
        head = json.dumps([name, array.dtype.str, list(array.shape)])
        found.update(head.encode() + b"\0" + np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(say("{value!r} is no text", value=str(value)[:40]))
    return value


def _facts(value: object) -> Facts:
    if not isinstance(value, dict):
        raise ValueError(say("a table of facts is missing"))
    return {_word(name): _fact(fact) for name, fact in value.items()}


def _fact(value: object) -> Plain | Sequence[Plain]:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return _plain(value)


def _plain(value: object) -> Plain:
    if value is None or isinstance(value, (str, int, bool)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(say("{value!r} is no word or number", value=str(value)[:40]))
