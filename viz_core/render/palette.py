"""The project's colours: one accent per encoding everywhere, and the colour maps by name."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.colors import LinearSegmentedColormap, to_rgb

# After Okabe & Ito's set for colour-blind readers, moved apart in lightness so that they also
# differ in grey: (on a light page, on a dark page).
ACCENTS = {
    "alibi": ("#C4500A", "#F08A4B"),
    "rope": ("#0F5C8C", "#6CB4EE"),
    "t5": ("#B58900", "#E8C547"),
    "nope": ("#6B6F76", "#A9AFB8"),
    "sinusoidal": ("#A8458A", "#DD8FC4"),
    "learned": ("#0B7A5E", "#4FC3A1"),
    # found by search: far from the others for readers without one kind of cone, too
    "xpos": ("#1695D1", "#3C7D9C"),
    "prope": ("#35118B", "#C2CAFD"),
    "kerple": ("#4A0F52", "#BE14E0"),
    "sandwich": ("#840507", "#E0482A"),
}
OWN = ("#8D01DE", "#A184D2")  # of encodings that come from a reader's own file
# Kinds of RoPE scaling and its free base: on one chart with RoPE itself, never with the others.
SCALINGS = {
    "linear": ("#B5382A", "#F08A7E"),
    "ntk": ("#2E7D32", "#7CC683"),
    "dynamic": ("#7A4FB5", "#B99AE6"),
    "yarn": ("#A06A00", "#E0B04A"),
    "llama3": ("#00798C", "#5CC4D4"),
    "theta": ("#8A3B6B", "#DE8FBE"),
}
INK = ("#1D2129", "#E6E6E1")
PAGE = ("#FCFCFA", "#14161A")  # what all of it stands on: .streamlit/config.toml has the same
READABLE = 4.5  # contrast of small text with its page (WCAG 2.2, success criterion 1.4.3)
# From blue through near-white to brown-red: lightness falls alike on both sides.
_BALANCE = ("#0B2F5B", "#3A77AF", "#A9CBE3", "#F4F2EE", "#EBBB9C", "#BF6237", "#5E1F0A")


def accent(name: str, dark: bool = False) -> str:
    """The colour of an encoding, of a kind of RoPE scaling, or "ink", as #RRGGBB; else OWN."""
    known = {**ACCENTS, **SCALINGS, "ink": INK}
    return known.get(name, OWN)[dark]


@cache
def letters(name: str, dark: bool = False) -> str:
    """The accent for words: with as little ink in it as makes small letters readable, #RRGGBB."""
    colour, ink = (np.array(to_rgb(c)) for c in (accent(name, dark), INK[dark]))
    for share in np.linspace(0, 1, 101):
        mixed = _hex(colour + (ink - colour) * share)
        if contrast(mixed, PAGE[dark]) >= READABLE:
            break
    return mixed


def contrast(a: str, b: str) -> float:
    """The contrast of two colours #RRGGBB, 1 .. 21 (WCAG 2.2: relative luminance)."""
    low, high = sorted(_luminance(c) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def _hex(colour: npt.NDArray[np.float64]) -> str:
    return "#" + "".join(f"{round(255 * c):02X}" for c in colour)


def shaded(name: str, shade: float, dark: bool = False) -> str:
    """The accent, lighter or darker by `shade` 0 .. 1 (head 1 the strongest), as #RRGGBB."""
    colour = np.array(to_rgb(accent(name, dark)))
    other = np.array(to_rgb("#F6EFE6" if not dark else "#2A2E35"))
    return _hex(colour + (other - colour) * 0.62 * shade)


@cache
def table(name: str) -> npt.NDArray[np.uint8]:
    """256 colours of the colour map `name`: [256, 3], low to high."""
    colours = (
        LinearSegmentedColormap.from_list("balance", _BALANCE)
        if name == "balance"
        else colormaps[name]
    )
    rgb: npt.NDArray[np.uint8] = np.round(255 * colours(np.linspace(0, 1, 256))[:, :3]).astype(
        np.uint8
    )
    return rgb
