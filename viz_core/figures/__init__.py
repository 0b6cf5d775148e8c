"""Figures, found by folder: each public module but `spec` exposes one `FIGURE`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from viz_core.figures.spec import FigureCard


@cache
def all_figures() -> dict[str, FigureCard]:
    """Every figure of this folder by id."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    names = [n for n in names if n != "spec" and not n.startswith("_")]
    cards = [importlib.import_module(f"{__name__}.{name}").FIGURE for name in names]
    return {card.id: card for card in cards}
