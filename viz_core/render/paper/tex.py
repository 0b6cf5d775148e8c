"""Text as LaTeX prints it: its special characters escaped, and those that it lacks as commands."""

from __future__ import annotations

import re

from viz_core.words import mark, say

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
    # Known to every LaTeX since 2018 are Latin letters, quotes and dashes; these are not.
    "−": "$-$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "≈": r"$\approx$",
    "±": r"$\pm$",
    "∞": r"$\infty$",
    "²": "$^2$",
    "³": "$^3$",
    "θ": r"$\theta$",
    "λ": r"$\lambda$",
    "π": r"$\pi$",
    "µ": r"$\mu$",
}
_ANY = re.compile("|".join(map(re.escape, _SPECIAL)))


_NEEDS = {  # what a document in a language needs beside what every one has
    "zh": mark("In Chinese: set the document with XeLaTeX or LuaLaTeX and \\usepackage{ctex}."),
}


def needs(language: str) -> str:
    """A comment that says what a document needs for words in `language`; nothing for English."""
    return f"% {say(_NEEDS[language])}\n" if language in _NEEDS else ""


def escaped(text: str) -> str:
    """`text` for LaTeX's text mode."""
    return _ANY.sub(lambda found: _SPECIAL[found[0]], text)
