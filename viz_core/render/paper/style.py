"""The look of figures on paper, as matplotlib calls it: type, lines and what files hold.

STIX is the Times-like face that matplotlib ships; it is embedded as TrueType (Type 42), since many
venues refuse the Type 3 of matplotlib's default. Letters that it lacks come from an installed face.
Nothing of a person's own matplotlibrc counts.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib as mpl
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from viz_core.render.paper import letters
from viz_core.words import language

INK, FAINT = "#1D2129", "#E3E2DC"
AXIS, GRID, DOTTED = 0.5, 0.4, 0.6  # widths of lines, points
STRONG, PLAIN, LAW = 1.1, 0.6, 0.5
FACE = "STIXGeneral"

RC = {
    "font.family": [FACE],
    "mathtext.fontset": "stix",
    "text.parse_math": False,  # a checkpoint may be called "$5 a$b"; signs here are letters
    "text.hinting": "none",  # letters are as wide in what is measured as in what is printed
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "attention-atlas",  # equal figures are equal files
    "pgf.rcfonts": False,  # the document's own fonts
    "axes.linewidth": AXIS,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "xtick.major.width": AXIS,
    "ytick.major.width": AXIS,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
    "axes.labelpad": 2.0,
    "lines.solid_capstyle": "round",
    "lines.dash_capstyle": "butt",
}
# What to draw with, and in which window, stays as it is.
_ELSEWHERE = ("backend", "interactive", "toolbar", "webagg", "tk", "savefig.directory", "date")

# matplotlib reads its settings from one dictionary of the process, while it draws too.
_ONE_AT_A_TIME = threading.RLock()


# Faces beside those of the language, for names in other letters.
_BESIDE: ContextVar[tuple[str, ...]] = ContextVar("faces_beside", default=())


@contextmanager
def settings(text: float, words: str = "") -> Iterator[None]:
    """matplotlib's settings for type of `text` points in the language spoken here, with faces for
    the letters of `words`; threads wait for each other. Raises AtlasError where no installed face
    has the language's letters, or those of `words`."""
    token = _BESIDE.set(letters.beside(words))
    try:
        with _settings(text):
            yield
    finally:
        _BESIDE.reset(token)


@contextmanager
def _settings(text: float) -> Iterator[None]:
    default = {k: v for k, v in mpl.rcParamsDefault.items() if not k.startswith(_ELSEWHERE)}
    sizes = dict.fromkeys(
        ("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"), text
    )
    wanted: dict[Any, Any] = {**default, **RC, **sizes, "font.family": families()}
    with _ONE_AT_A_TIME, mpl.rc_context(wanted):
        yield


def families() -> list[str]:
    """The faces of the language spoken here: each letter is of the first that has it."""
    return [FACE, *dict.fromkeys((*letters.faces(language()), *_BESIDE.get()))]


def width(text: str, size: float, bold: bool = False) -> float:
    """How wide one line of `size` points is, points; bold ones are of the usual face alone."""
    face = FontProperties(family=families(), size=size)
    if bold:
        face = FontProperties(family=FACE, size=size, weight="bold")
    found, _, _ = text_to_path.get_text_width_height_descent(text, face, False)
    return float(found)


def lines(text: str, size: float, room: float, bold: bool = False) -> list[str]:
    """`text` broken between words, or between Chinese letters, into lines of at most `room` points,
    where those let it; a number stays with its % and p with its value."""
    found: list[str] = []
    for gap, word in _WORDS.findall(" ".join(text.split())):
        longer = f"{found[-1]}{gap}{word}" if found else word
        if found and width(longer, size, bold) <= room:
            found[-1] = longer
        else:
            found.append(word)
    return found


def typeset(label: str) -> str:
    """A tick's label with minus signs where it has hyphens: −12, 1e−3."""
    return _MINUS.sub("−", label)


# What is never broken, and the space before it. A Chinese letter is a word, with the signs that no
# line may begin or end with; an ordinal stays with what it counts: 第 3 层.
_HAN, _CLOSING, _OPENING = (
    "\u3400-\u9fff\u3000-\u303f\uff00-\uffef",
    "，。；：、！？）》」』",
    "（《「『",
)
_WORDS = re.compile(
    rf"( ?)(\(p \S+\)"
    rf"|[{_OPENING}]*(?:第 [\d,]+ [{_HAN}]|[{_HAN}]|[^ {_HAN}]+(?: %(?!\S))?)[{_CLOSING}]*)"
)
_MINUS = re.compile(r"-(?=\d)")
