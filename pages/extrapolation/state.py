"""The state of Extrapolation as the address carries it: short, versioned, checked on the way in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from pages._shared import decoding
from pages._shared.decoding import VERSION
from viz_core.perplexity import PROTOCOLS
from viz_core.words import say

UPTO = (1024, 2048, 4096, 8192)  # longest lengths to compute, tokens
MEASURES = ("perplexity", "loss", "difference")
SETTINGS = ("", "linear:fit", "ntk:fit", "dynamic", "yarn:fit", "theta:50000")  # shown at first
FACTORS = ("linear", "ntk", "yarn", "llama3")  # settings that take a factor, or "fit"
NUMBERS = ("theta", "exponent")  # settings that take a number
MOST = 40  # settings in an address


@dataclass(frozen=True)
class LabState:
    """Everything that the page shows follows from this.

    `settings` are those of RoPE on its chart; `report` is the published curve set; `live` is the
    checkpoint that is changed, `setting` how ("" is as trained), `on` its text, and
    `upto` the longest length.
    """

    protocol: str = "fixed-targets"
    text: str = "heldout"
    measure: str = "perplexity"
    settings: tuple[str, ...] = SETTINGS
    report: str = "press-2022-512-non-overlapping"
    live: str = "rope"
    setting: str = "linear:fit"
    on: str = "python-docs"
    upto: int = 4096

    def encoded(self) -> dict[str, str]:
        """The query parameters of the address; what is at its default is left out."""
        out = {"v": VERSION}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if field.name == "settings":
                out["settings"] = "~".join(_dashed(s) for s in value)
            else:
                out[field.name] = _dashed(value) if field.name == "setting" else str(value)
        return out


def decoded(query: Mapping[str, str]) -> tuple[LabState, list[str]]:
    """(the state that `query` asks for, a sentence for each part that could not be read).

    Whether tables, checkpoints and texts exist is for the page to say; here only form counts.
    """
    plain = LabState()
    if wrong := decoding.foreign(query):
        return plain, wrong
    asked = decoding.Asked(query, plain)

    def settings(name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        if name not in query:
            return default
        parts = query[name].split("~")[:MOST] if query[name] else []
        bad = [p for p in parts if _colon(p) is None]
        if bad:
            asked.wrong.append(
                say(
                    "Expected {name} in the address as words such as linear-4, ntk-fit or "
                    "theta-50000; got {value!r}.",
                    name=name,
                    value=bad[0][: decoding.SAID],
                )
            )
        return tuple(s for p in parts if (s := _colon(p)) is not None)

    protocol, measure = asked.among("protocol", PROTOCOLS), asked.among("measure", MEASURES)
    if measure == "difference" and protocol != plain.protocol:
        asked.wrong.append(
            say(
                "Expected the difference from the trained length with fixed targets alone; the "
                "address has another protocol, so perplexity is shown."
            )
        )
        measure = plain.measure
    one = settings("setting", (plain.setting,))
    state = LabState(
        protocol=protocol,
        measure=measure,
        settings=settings("settings", plain.settings),
        setting=one[0] if one else plain.setting,
        upto=int(asked.among("upto", UPTO)),
        **asked.names("text", "report", "live", "on"),
    )
    return state, asked.wrong


def _dashed(setting: str) -> str:
    """A setting without characters that an address has to escape: "none", "linear-4"."""
    return setting.replace(":", "-") or "none"


def _colon(word: str) -> str | None:
    """The setting of a word in an address; None if it is none."""
    if word == "none":
        return ""
    if word == "dynamic":
        return word
    kind, _, number = word.partition("-")
    if kind in FACTORS and number == "fit":
        return f"{kind}:fit"
    if kind not in FACTORS + NUMBERS or len(number) > 12:
        return None
    try:
        return f"{kind}:{number}" if 0 < float(number) < math.inf else None
    except ValueError:
        return None
