"""The state of Extrapolation as the address carries it: short, versioned, checked on the way in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from pages._kit.session import VERSION
from viz_core.perplexity import PROTOCOLS

UPTO = (1024, 2048, 4096, 8192)  # longest lengths to compute, tokens
MEASURES = ("perplexity", "loss", "difference")
SETTINGS = ("", "linear:fit", "ntk:fit", "dynamic", "yarn:fit", "theta:50000")  # shown at first
FACTORS = ("linear", "ntk", "yarn", "llama3")  # settings that take a factor, or "fit"
NUMBERS = ("theta", "exponent")  # settings that take a number
LONGEST = 80  # characters of a name in an address
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
    if query.get("v", VERSION) != VERSION:
        return plain, [
            f"This address is of version {query['v'][:40]!r}, and version {VERSION} was expected; "
            "the page shows its start instead."
        ]
    wrong = []

    def among(name: str, known: tuple[str, ...]) -> str:
        default = str(getattr(plain, name))
        value = query.get(name, default)
        if value in known:
            return value
        wrong.append(
            f"Expected {name} in the address among {', '.join(known)}; got {value[:40]!r}, so "
            f"{default} is shown."
        )
        return default

    def settings(name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        if name not in query:
            return default
        parts = query[name].split("~")[:MOST] if query[name] else []
        bad = [p for p in parts if _colon(p) is None]
        if bad:
            wrong.append(
                f"Expected {name} in the address as words such as linear-4, ntk-fit or "
                f"theta-50000; got {bad[0][:40]!r}."
            )
        return tuple(s for p in parts if (s := _colon(p)) is not None)

    protocol, measure = among("protocol", tuple(PROTOCOLS)), among("measure", MEASURES)
    if measure == "difference" and protocol != plain.protocol:
        wrong.append(
            "Expected the difference from the trained length with fixed targets alone; the "
            "address has another protocol, so perplexity is shown."
        )
        measure = plain.measure
    one = settings("setting", (plain.setting,))
    names = {n: query.get(n, str(getattr(plain, n)))[:LONGEST] for n in ("text", "report", "live")}
    state = LabState(
        protocol=protocol,
        measure=measure,
        settings=settings("settings", plain.settings),
        setting=one[0] if one else plain.setting,
        on=query.get("on", plain.on)[:LONGEST],
        upto=int(among("upto", tuple(map(str, UPTO)))),
        **names,
    )
    return state, wrong


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
