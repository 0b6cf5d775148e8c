"""The state of Decay as the address carries it: short, versioned, checked on the way in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from pages._shared import decoding
from pages._shared.decoding import VERSION
from viz_core.variants import FACTORS, PARAMETERS
from viz_core.words import say

SOURCES = ("shipped", "own")
ESTIMATORS = ("fixed", "logit", "mean")
LENGTHS = (128, 256, 512, 1024, 2048, 4096)  # tokens, of a measurement of one's own
TEXTS = (2, 4, 6, 8, 12, 16, 24, 32, 42)  # how many, of a measurement of one's own
MOST = 12  # checkpoints in an address
HIGHEST = 999  # of a layer, of a head


@dataclass(frozen=True)
class DecayState:
    """Everything that the page shows follows from this.

    `chosen` are checkpoints; `source` says whether their portraits are the shipped ones or `own`,
    measured on `texts` passages of `length` tokens of `text`, under `setting` where it is theirs.
    `estimator`, `sink` (the first keys in), `law` and `x_log` make the curves, of which `view`
    shows one checkpoint or, empty, all. `layer` and `head` count from 0 here and from 1 in the
    address. `changed` and `what` are the checkpoint and the setting of the comparison.
    """

    chosen: tuple[str, ...] = ("alibi", "rope", "t5")
    source: str = "shipped"
    estimator: str = "fixed"
    sink: bool = False
    law: bool = True
    x_log: bool = False
    view: str = ""
    layer: int = 1
    head: int = 3
    text: str = "heldout"
    length: int = 512
    texts: int = 6
    setting: str = ""
    changed: str = "rope"
    what: str = "linear:4"

    def encoded(self) -> dict[str, str]:
        """The query parameters of the address; what is at its default is left out."""
        out = {"v": VERSION}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, bool):
                out[field.name] = str(int(value))
            elif isinstance(value, tuple):
                out[field.name] = "~".join(value)
            elif field.name in ("layer", "head"):
                out[field.name] = str(value + 1)
            elif field.name in ("setting", "what"):
                out[field.name] = value.replace(":", "-") or "none"
            else:
                out[field.name] = str(value)
        return out


def decoded(query: Mapping[str, str]) -> tuple[DecayState, list[str]]:
    """(the state that `query` asks for, a sentence for each part that could not be read).

    Whether checkpoints, layers and texts exist is for the page to say; here only form counts.
    """
    plain = DecayState()
    if wrong := decoding.foreign(query):
        return plain, wrong
    asked = decoding.Asked(query, plain)

    def flag(name: str) -> bool:
        default = str(int(getattr(plain, name)))
        value = query.get(name, default)
        if value not in ("0", "1"):
            asked.wrong.append(
                say(
                    "Expected {name} in the address as 0 or 1; got {value!r}.",
                    name=name,
                    value=value[: decoding.SAID],
                )
            )
            value = default
        return value == "1"

    def place(name: str) -> int:
        default = getattr(plain, name)
        text = query.get(name, str(default + 1))
        found = decoding.number(text, 1, HIGHEST)
        if found is not None:
            return found - 1
        asked.wrong.append(
            say(
                "Expected {name} in the address to be a number from 1; got {value!r}, so {default} "
                "is shown.",
                name=name,
                value=text[: decoding.SAID],
                default=default + 1,
            )
        )
        return int(default)

    def setting(name: str) -> str:
        if name not in query:
            return str(getattr(plain, name))
        found = colon(query[name])
        if found is None:
            asked.wrong.append(
                say(
                    "Expected {name} in the address as a word such as linear-4, exponent-6 or off; "
                    "got {value!r}.",
                    name=name,
                    value=query[name][: decoding.SAID],
                )
            )
        return str(getattr(plain, name)) if found is None else found

    chosen = plain.chosen
    if "chosen" in query:
        names = query["chosen"].split("~")[:MOST] if query["chosen"] else []
        chosen = tuple(dict.fromkeys(n[: decoding.LONGEST] for n in names))
    state = DecayState(
        chosen=chosen,
        source=asked.among("source", SOURCES),
        estimator=asked.among("estimator", ESTIMATORS),
        sink=flag("sink"),
        law=flag("law"),
        x_log=flag("x_log"),
        layer=place("layer"),
        head=place("head"),
        length=int(asked.among("length", LENGTHS)),
        texts=int(asked.among("texts", TEXTS)),
        setting=setting("setting"),
        what=setting("what"),
        **asked.names("view", "text", "changed"),
    )
    return state, asked.wrong


def colon(word: str) -> str | None:
    """The setting (see `viz_core.variants`) of a word in an address; None if it is none."""
    if word in ("none", "dynamic", "off"):
        return "" if word == "none" else word
    kind, _, number = word.partition("-")
    if kind not in (*FACTORS, *PARAMETERS) or len(number) > 12:
        return None
    try:
        return f"{kind}:{number}" if 0 < float(number) < math.inf else None
    except ValueError:
        return None
