"""How the figures of Encodings leave it: the plates that draw the same; nothing was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pages._shared import export_sources
from pages._shared.export import Shown
from pages.encodings.results import Alone
from pages.encodings.state import AtlasState
from viz_core import plates
from viz_core.alone import knobs
from viz_core.figures.spec import FigureSpec
from viz_core.plates.tray import Pin

PAGE = "encodings"


def maps(figure: FigureSpec, sides: Sequence[Alone], state: AtlasState) -> Shown:
    """The maps of those sides that have a law."""
    where = {"heads": [state.head + 1], **export_sources.ranges(state.box)}
    return _shown(figure, "encoding-maps", [a for a in sides if a.law is not None], state, where)


def curves(figure: FigureSpec, sides: Sequence[Alone], state: AtlasState) -> Shown:
    """The laws of those sides that have one."""
    where = {"heads": [state.head + 1], "x_scale": "log" if state.x_log else "linear"}
    return _shown(figure, "encoding-curves", [a for a in sides if a.law is not None], state, where)


def part(figure: FigureSpec, side: Alone, state: AtlasState) -> Shown:
    """What one side is made of."""
    return _shown(figure, "encoding-parts", [side], state, {})


def _shown(
    figure: FigureSpec,
    plate: str,
    sides: Sequence[Alone],
    state: AtlasState,
    where: dict[str, Any],
) -> Shown:
    pin = Pin.of(
        plate,
        encodings=[_word(a) for a in sides],
        model_heads=state.heads,
        head_width=state.width,
        trained_length=state.trained,
        length=state.length,
        **where,
    )
    facts = {
        "made_of": "formulas alone: no checkpoint and no text",
        "length": state.length,
        "trained_length": state.trained,
        "normalisation": "softmax over all keys that are not after the query",
    }
    title = plates.get(plate).title
    return Shown(
        lambda: figure,
        title,
        plate,
        PAGE,
        pin,
        "",
        lambda: export_sources.formulas(sides),
        facts,
    )


def _word(a: Alone) -> str:
    """The encoding as the command line names it: rope:theta=500000:scaling=yarn."""
    changed = [(p.name, v) for p in knobs(a.card) if (v := a.values[p.name]) != p.default]
    return ":".join([a.card.id, *(f"{name}={_plain(value)}" for name, value in changed)])


def _plain(value: object) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"
