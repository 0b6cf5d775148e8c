"""Whether words can be read: contrast of every colour that writes, on both themes' pages."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from pages._shared import head_grid, looks
from pages.attribution import text
from viz_core.encodings import all_encodings
from viz_core.render import palette

CONFIG = tomllib.loads(
    (Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text(encoding="utf-8")
)["theme"]
THEMES = ("light", "dark")  # by whether the page is dark
AA = 4.5  # of small text (WCAG 2.2, success criterion 1.4.3)
EVERY = [*palette.ACCENTS, *palette.SCALINGS, "ink", "one of one's own"]


def mixed(over: str, under: str, share: float) -> str:
    """`over` with the opacity `share` on `under`, #RRGGBB."""
    a, b = np.array(to_rgb(over)), np.array(to_rgb(under))
    return "#" + "".join(f"{round(255 * c):02X}" for c in b + (a - b) * share)


@pytest.fixture(params=[False, True], ids=THEMES)
def dark(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_figures_know_the_page_that_they_stand_on(dark: bool) -> None:
    theme = CONFIG[THEMES[dark]]
    assert theme["backgroundColor"] == palette.PAGE[dark]
    assert theme["textColor"] == palette.INK[dark]


def test_contrast_is_that_of_its_definition() -> None:
    assert palette.contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert palette.contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)
    assert palette.contrast("#FFFFFF", "#777777") == palette.contrast("#777777", "#FFFFFF")


def test_words_of_the_theme_can_be_read(dark: bool) -> None:
    theme = CONFIG[THEMES[dark]]
    for ground in (theme["backgroundColor"], theme["secondaryBackgroundColor"]):
        quiet = mixed(theme["textColor"], ground, looks.QUIET)
        for colour in (theme["textColor"], theme["linkColor"], theme["codeTextColor"], quiet):
            assert palette.contrast(colour, ground) >= AA, (colour, ground)
    assert palette.contrast(looks.ON_PRIMARY[dark], theme["primaryColor"]) >= AA
    assert f"color: {looks.ON_PRIMARY[dark]}" in looks.style(dark)


@pytest.mark.parametrize("name", EVERY)
def test_words_in_an_accent_can_be_read_and_still_look_like_it(name: str, dark: bool) -> None:
    letters, accent = palette.letters(name, dark), palette.accent(name, dark)
    page = palette.PAGE[dark]
    assert palette.contrast(letters, page) >= AA
    if palette.contrast(accent, page) >= AA:
        assert letters == accent
    else:
        assert np.abs(np.subtract(to_rgb(letters), to_rgb(accent))).max() < 0.2


def test_ink_can_be_read_on_the_strongest_tints(dark: bool) -> None:
    ink, page = palette.INK[dark], palette.PAGE[dark]
    tints = [(palette.accent(e, dark), head_grid.FULL) for e in all_encodings()]
    for rgb in text.COLOURS[dark]:
        tints.append(("#" + "".join(f"{c:02X}" for c in rgb), text.FULL))
    for colour, share in tints:
        assert palette.contrast(ink, mixed(colour, page, share)) >= AA, colour
