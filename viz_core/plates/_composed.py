"""Several figures as one: their panels in order, one caption, and where all of them come from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from viz_core.figures.spec import FigureSpec
from viz_core.plates._contract import Plot
from viz_core.render.paper import arrangement
from viz_core.words import sentences

FEW = 3  # letters that are named one by one; more are named from the first to the last
_MARK = re.compile(r"\([a-z](?:, [a-z])*\)")  # (a), or (c, d), as a figure of its own has them


def join(plots: Sequence[Plot]) -> Plot:
    """One figure whose caption says what stands under each letter.

    Sources are named once each; facts begin with the letters that they are of.
    """
    panels = tuple(panel for plot in plots for panel in plot.spec.panels)
    parts = tuple(len(plot.spec.panels) for plot in plots)
    counts = [len(arrangement.blocks_of(plot.spec.panels)) for plot in plots]
    every = arrangement.letters(sum(counts))
    own = [every[sum(counts[:i]) : sum(counts[: i + 1])] for i in range(len(plots))]
    together = [*zip(plots, own, strict=True)]
    spec = FigureSpec(
        panels,
        sentences(*(_lettered(p.spec.caption, some) for p, some in together)),
        sentences(*(_lettered(p.spec.alt, some) for p, some in together)),
        parts if len(parts) > 1 else (),
    )
    facts = {
        f"{_mark(some)} {name}".strip(): value
        for plot, some in together
        for name, value in plot.facts.items()
    }
    sources = tuple(dict.fromkeys(source for plot in plots for source in plot.sources))
    return Plot(spec, sources, facts)


def _lettered(words: str, letters: Sequence[str]) -> str:
    """The words with their own letters moved on to `letters`, or else with these before them."""
    if not _MARK.search(words):
        return f"{_mark(letters)} {words}".strip()
    before = arrangement.letters(max(2, len(letters)))

    def moved(found: re.Match[str]) -> str:
        some = found[0][1:-1].split(", ")
        if any(letter not in before[: len(letters)] for letter in some):
            return found[0]
        return f"({', '.join(letters[before.index(letter)] for letter in some)})"

    return _MARK.sub(moved, words)


def _mark(letters: Sequence[str]) -> str:
    """ "(c)", "(c, d)" or "(c–h)"; nothing for a figure without letters."""
    if not letters[0]:
        return ""
    if len(letters) > FEW:
        return f"({letters[0]}–{letters[-1]})"
    return f"({', '.join(letters)})"
