"""Accents of encodings: as far apart for readers who see two kinds of colour as for others."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from viz_core.render import palette

# How colours look without one kind of cone, in linear RGB (Machado, Oliveira & Fernandes 2009,
# full severity); and Oklab, in which equal distances look about equally far (Ottosson 2020).
SEEN = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]
FIRST = {
    "alibi",
    "rope",
    "t5",
    "nope",
    "sinusoidal",
    "learned",
}  # printed already


def looks(colour: str, seen: str) -> np.ndarray:
    """Where #RRGGBB lies in Oklab for such a reader."""
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = (np.array(SEEN[seen]) @ linear).clip(0, 1)
    return np.array(LAB) @ np.cbrt(np.array(CONES) @ linear)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("seen", SEEN)
def test_later_accents_are_apart_from_all_others_for_every_reader(seen: str, dark: bool) -> None:
    """0.06 is three times a difference that can just be seen side by side."""
    known = {**palette.ACCENTS, "own": palette.OWN}
    for a, b in combinations(known, 2):
        if not {a, b} <= FIRST:
            apart = looks(known[a][dark], seen) - looks(known[b][dark], seen)
            assert np.linalg.norm(apart) > 0.06, (a, b)


def test_an_encoding_of_one_s_own_has_a_colour_that_no_other_has() -> None:
    for dark in (False, True):
        assert palette.accent("mine", dark) == palette.OWN[dark]
        assert palette.OWN[dark] not in {c[dark] for c in palette.ACCENTS.values()}
