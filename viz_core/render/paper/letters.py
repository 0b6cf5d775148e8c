"""Faces for letters that the usual one lacks, from among those that a machine has installed.

The usual face stays first, so that Latin letters, digits and signs are the same in every language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from matplotlib import font_manager
from matplotlib.font_manager import FontProperties

from viz_core.errors import AtlasError
from viz_core.words import LANGUAGES, say

# By language, the first that is there is taken. They come with systems and their packages.
FAMILIES = {
    "zh": (
        "Noto Sans SC",
        "Noto Sans CJK SC",
        "Source Han Sans SC",
        "Microsoft YaHei",
        "SimHei",
        "PingFang SC",
        "Hiragino Sans GB",
        "Heiti SC",
        "WenQuanYi Micro Hei",
        "WenQuanYi Zen Hei",
        "Droid Sans Fallback",
        "Arial Unicode MS",
    )
}


HAN = re.compile("[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


@lru_cache(maxsize=len(LANGUAGES))
def faces(language: str) -> tuple[str, ...]:
    """Families beside the usual one that print `language`; none where that one has its letters.

    Raises AtlasError where none of FAMILIES is installed in outlines that files can hold.
    """
    if language not in FAMILIES:
        return ()
    found = _first(FAMILIES[language])
    if found is None:
        _look_again()
        found = _first(FAMILIES[language])
    if found is not None:
        return (found,)
    raise AtlasError(
        say(
            "Expected a font with Chinese letters, such as WenQuanYi Micro Hei or Noto Sans SC in "
            "TrueType, to print a figure in Chinese; none is installed here, so install one (on "
            "Debian and Ubuntu: apt install fonts-wqy-microhei), or choose English."
        )
    )


def beside(text: str) -> tuple[str, ...]:
    """Families that print the Chinese letters among `text`, a name in a figure of any language;
    none where it has none. Raises AtlasError where no such face is installed."""
    if not HAN.search(text):
        return ()
    try:
        return faces("zh")
    except AtlasError:
        raise AtlasError(
            say(
                "Expected a font with Chinese letters for a name in this figure; none is installed "
                "here, so install one (on Debian and Ubuntu: apt install fonts-wqy-microhei), or "
                "give the file another name."
            )
        ) from None


def find(family: str, weight: str = "normal") -> str | None:
    """The file of a family that is installed."""
    try:
        return font_manager.findfont(
            FontProperties(family=family, weight=weight), fallback_to_default=False
        )
    except ValueError:
        return None


def _first(families: Sequence[str]) -> str | None:
    every = ((family, find(family)) for family in families)
    return next((family for family, path in every if path and _embeds(path)), None)


def _look_again() -> None:
    """Fonts that were installed since matplotlib listed all that there were, once and for all."""
    known = {font.fname for font in font_manager.fontManager.ttflist}
    for path in sorted({*font_manager.findSystemFonts()} - known):
        with suppress(OSError, RuntimeError, ValueError, KeyError):  # a file that is no font
            font_manager.fontManager.addfont(path)


def opened(path: str) -> TTFont:
    """The font of a file that `find` found, which may hold several."""
    return TTFont(path, fontNumber=getattr(path, "face_index", 0), lazy=True, recalcTimestamp=False)


def _embeds(path: str) -> bool:
    """Whether a PDF takes it as TrueType: outlines of that kind, of one weight.

    matplotlib would embed PostScript's under a false name; of a font of many weights it would
    print the thinnest.
    """
    with opened(path) as font:
        return "glyf" in font and "fvar" not in font
