"""A pin in words: which figure it is, what of it isn't as usual, and the page it belongs to."""

from __future__ import annotations

from pages._shared.tray_state import Origin, origin
from pages.figures import labels
from viz_core import encodings, plates, series
from viz_core.plates.tray import Pin
from viz_core.words import say

HOMES = {  # the pages that show what a plate draws
    "staircase-ripples": "compare",
    "head-wall": "compare",
    "map": "compare",
    "curves": "compare",
    "extrapolation": "extrapolation",
    "position-loss": "extrapolation",
    "mechanism": "extrapolation",
    "training-curves": "extrapolation",
    "encoding-atlas": "encodings",
    "encoding-maps": "encodings",
    "encoding-curves": "encodings",
    "encoding-parts": "encodings",
    "emergence": "sweeps",
}
OTHERS = "decay"
BARE = ("places", "checkpoints", "encodings", "scaling")  # options whose values say what they are


def title(pin: Pin) -> str:
    """What the figure is called."""
    return say(plates.get(pin.plate).title)


def options(pin: Pin) -> str:
    """What isn't at its default: "ALiBi L2 H5, RoPE L2 H1 · length 1,024 · texts 6"."""
    return " · ".join(_said(name, value.split(",")) for name, value in pin.options.items())


def home(pin: Pin) -> Origin:
    """Where it was pinned; for one from elsewhere, the page that shows the like of it."""
    return origin(pin) or Origin(HOMES.get(pin.plate, OTHERS))


def _said(name: str, values: list[str]) -> str:
    words = ", ".join(_value(name, value) for value in values)
    return words if name in BARE else f"{say(labels.NAMES[name])} {words}"


def _value(name: str, value: str) -> str:
    known = encodings.all_encodings()
    if name == "places" and value.count(".") >= 2:
        checkpoint, layer, head = value.rsplit(".", 2)
        return f"{_value('checkpoints', checkpoint)} L{layer} H{head}"
    if name == "scaling":
        return say("as trained") if value == "none" else _setting(value)
    if name in ("queries", "keys"):
        return value.replace(":", "–")
    if name == "encodings":
        encoding, *knobs = value.split(":")
        return " ".join([_value("checkpoints", encoding), *knobs]).replace("=", " ")
    if value in known:
        return known[value].name
    return f"{int(value):,}" if value.isdecimal() else value


def _setting(value: str) -> str:
    """A setting of RoPE or ALiBi; as it was given, where it is none."""
    try:
        return series.label("alibi" if value.startswith("exponent") else "rope", value)
    except ValueError:
        return value
