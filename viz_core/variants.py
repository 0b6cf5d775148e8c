"""The same weights under another setting of their encoding: RoPE's scalings, ALiBi's exponents.

A setting is a short word that the command line, the tables of results and the pages share:
"" as trained, "linear:4" or another RoPE scaling with its factor s, "linear:fit" with
s = max(1, N / L) at each length N, "dynamic", "theta:50000", "exponent:6", and "off": the same
weights without their encoding.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar, cast

from viz_core import encodings
from viz_core.errors import AtlasError, UsageError
from viz_core.model import Transformer, ours
from viz_core.subject import Subject
from viz_core.words import mark, say

Model = TypeVar("Model", bound=Subject)

FACTORS = {"linear": "PI", "ntk": "NTK", "yarn": "YaRN", "llama3": "Llama 3"}
PARAMETERS = {"theta": ("rope", "θ ="), "exponent": ("alibi", mark("exponent"))}


def vary(model: Model, setting: str, length: int) -> Model:
    """`model` (the same weights, shared) with its encoding under `setting` for `length` tokens.

    "off" leaves the encoding's own weights out, and what is returned says that it is NoPE. Raises
    UsageError for a setting that is none, of another encoding, or out of its range, and for one of
    a model that isn't ours.
    """
    if setting in ("", "none"):
        return model
    own = ours(model, say("the setting {setting}", setting=setting))
    if setting == "off":
        config = replace(own.config, encoding="nope", parameters={})
    else:
        values = parameters(own.config.encoding, setting, length, own.config.length)
        config = replace(own.config, parameters={**own.config.parameters, **values})
    varied = Transformer(config)
    weights = own.state_dict()
    if setting == "off":
        weights = {n: w for n, w in weights.items() if not n.startswith("encoding.")}
    try:
        varied.load_state_dict(weights, assign=True)
    except RuntimeError:
        raise AtlasError(
            say(
                "Expected a setting that keeps the trained weights; {setting} changes their shape.",
                setting=setting,
            )
        ) from None
    return cast(Model, varied.eval().requires_grad_(False))


def parameters(
    encoding: str, setting: str, length: int, trained: int
) -> dict[str, encodings.Value]:
    """The encoding's parameters that `setting` stands for at `length` (`trained`: L).

    Raises UsageError as `vary` does.
    """
    kind, _, number = setting.partition(":")
    if setting in ("", "none", "off"):
        return {}
    wanted = PARAMETERS[kind][0] if kind in PARAMETERS else "rope"
    if kind not in FACTORS and kind not in PARAMETERS and setting != "dynamic":
        raise UsageError(
            say(
                "Expected a setting such as {examples}; got {setting!r}.",
                examples=", ".join(examples()),
                setting=setting,
            )
        )
    if encoding != wanted:
        raise UsageError(
            say(
                "Expected a checkpoint with {wanted} for the setting {setting}; got one with "
                "{encoding}. Leave the checkpoint or the setting out.",
                wanted=encodings.get(wanted).name,
                setting=setting,
                encoding=encodings.get(encoding).name,
            )
        )
    if setting == "dynamic":
        values: dict[str, encodings.Value] = {"scaling": "dynamic", "factor": 1.0}
    elif kind in PARAMETERS:
        values = {kind: _number(setting, number)}
    elif number == "fit":
        values = {"scaling": kind, "factor": max(1.0, length / trained)}
    else:
        values = {"scaling": kind, "factor": _number(setting, number)}
    known = {p.name: p for p in encodings.get(encoding).parameters}
    return {name: known[name].check(value) for name, value in values.items()}


def title(encoding: str, setting: str = "") -> str:
    """What a figure calls a checkpoint of `encoding` under `setting`: "RoPE, PI s = 4"."""
    name = encodings.get(encoding).name
    kind, _, number = setting.partition(":")
    if setting in ("", "none"):
        return name
    if setting == "off":
        return say("{name}, positions off", name=name)
    if setting == "dynamic":
        return f"{name}, {say('dynamic NTK')}"
    if kind in PARAMETERS:
        return f"{name}, {say(PARAMETERS[kind][1])} {float(number):,.10g}"
    factor = "N / L" if number == "fit" else f"{float(number):g}"
    return f"{name}, {FACTORS.get(kind, kind)} s = {factor}"


def examples() -> list[str]:
    """One setting of each kind."""
    return [
        *(f"{kind}:4" for kind in FACTORS),
        "linear:fit",
        "dynamic",
        "theta:50000",
        "exponent:6",
        "off",
    ]


def _number(setting: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(
            say(
                "Expected a number after the colon, as in linear:4; got {setting!r}.",
                setting=setting,
            )
        )
    return number
