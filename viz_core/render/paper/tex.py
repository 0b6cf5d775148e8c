"""Text as LaTeX prints it: its special characters escaped, and those that it lacks as commands."""

from __future__ import annotations

import re

from viz_core.render.paper.letters import HAN
from viz_core.words import say

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


def needs(text: str) -> str:
    """A comment that says what a document needs for the Chinese letters among `text`, if any."""
    if not HAN.search(text):
        return ""
    said = say(
        "For Chinese letters, set the document with XeLaTeX or LuaLaTeX and {package}.",
        package=r"\usepackage{ctex}",
    )
    return f"% {said}\n"


def escaped(text: str) -> str:
    """`text` for LaTeX's text mode."""
    return _ANY.sub(lambda found: _SPECIAL[found[0]], text)
