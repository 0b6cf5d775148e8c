"""The drawing of the house in docs/architecture.md: who may import whom, from pyproject.toml.

    python docs/_make/house.py          # writes docs/house-light.svg and docs/house-dark.svg

Storeys are the layers that import-linter holds, so the drawing can't say what the code doesn't do.
"""

from __future__ import annotations

import re
import tomllib
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
SIDES = {  # ink, faint ink, a storey, the next group's storey, a room, its edge, what stands out
    "light": ("#1D2129", "#6B6F76", "#F2F2EE", "#E7EEF4", "#FFFFFF", "#C9C9C2", "#0F5C8C"),
    "dark": ("#E6E6E1", "#A9AFB8", "#1D2026", "#17242F", "#2A2E35", "#454B55", "#6CB4EE"),
}
GROUPS = {  # the first storey of each group, from the top: what the group is for
    "__main__": "ways in, without a browser",
    "series": "figures: data, pictures, files",
    "cards": "what is said and kept",
    "catalogue": "checkpoints, texts, measurements",
    "attention": "numbers of a map and of a head",
    "trace": "one pass through a model",
    "encodings": "the ground",
}
WIDTH, WALL = 860, 600  # of the drawing, and of its storeys
STOREY, ROOM, GAP = 26, 20, 6
LETTER = 7.0  # of a room's name: what a browser's 12-point letters take at most
ROOF = 74


def storeys() -> list[list[str]]:
    """The modules of each layer of viz_core, from the top."""
    with (DOCS.parent / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    core = next(c for c in contracts if c.get("exhaustive"))
    return [re.findall(r"\w+", layer) for layer in core["layers"]]


def draw(side: str) -> str:
    """The drawing as SVG, for a "light" or a "dark" page."""
    ink, faint, plain, tinted, room, edge, bright = SIDES[side]
    found = storeys()
    words = {"fill": ink, "font-size": 12, "text-anchor": "middle"}
    parts = [_roof(ink, room, edge, bright)]
    top, tint, named = ROOF + 8, False, 0
    for layer in found:
        group = next((GROUPS[name] for name in layer if name in GROUPS), None)
        if group is not None:
            tint, named = not tint, named + 1
            parts += [
                _tag("line", x1=WALL, y1=top, x2=WIDTH, y2=top, stroke=edge),
                _text(WALL + 14, top + 17, group, fill=faint, font_size=12),
            ]
        fill = tinted if tint else plain
        parts.append(_tag("rect", x=0, y=top, width=WALL, height=STOREY, fill=fill))
        widths = [LETTER * len(name) + 16 for name in layer]
        left = (WALL - sum(widths) - GAP * (len(layer) - 1)) / 2
        for name, width in zip(layer, widths, strict=True):
            box = {"x": round(left, 1), "y": top + 3, "width": round(width, 1), "height": ROOM}
            parts.append(_tag("rect", **box, rx=4, fill=room, stroke=edge))
            parts.append(_text(round(left + width / 2, 1), top + 17, name, **words))
            left += width + GAP
        top += STOREY
    if named != len(GROUPS):
        raise SystemExit(f"Expected a storey with each of {', '.join(GROUPS)}; one is gone.")
    parts.append(_tag("line", x1=0, y1=top, x2=WIDTH, y2=top, stroke=ink, stroke_width=1.5))
    title = "Who may import whom: the pages above the core, whose storeys each use those below"
    font = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + 2}" '
        f'width="{WIDTH}" height="{top + 2}" font-family="{font}" role="img">\n'
        f"<title>{escape(title)}</title>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _roof(ink: str, room: str, edge: str, bright: str) -> str:
    eaves = f"0,{ROOF} {WALL},{ROOF} {WALL - 90},4 90,4"
    middle = WALL / 2
    head = {"fill": bright, "font-size": 14, "font-weight": 600, "text-anchor": "middle"}
    word = {"fill": ink, "font-size": 12, "text-anchor": "middle"}
    return "\n".join(
        (
            _tag("polygon", points=eaves, fill=room, stroke=edge),
            _text(middle, 26, "pages/NAME.py", **head),
            _text(middle, 44, "one file a page; pages know nothing of each other", **word),
            _text(middle, 64, "pages/_shared: address, drawing, export, policy", **word),
            _text(WALL + 14, 44, "Streamlit, up here alone", fill=ink, font_size=12),
            _text(WALL + 14, ROOF, "viz_core", **(head | {"text-anchor": "start"})),
        )
    )


def _tag(name: str, **values: object) -> str:
    said = " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in values.items())
    return f"<{name} {said}/>"


def _text(x: float, y: float, words: str, **values: object) -> str:
    return _tag("text", x=x, y=y, **values)[:-2] + f">{escape(words)}</text>"


if __name__ == "__main__":
    for side in SIDES:
        (DOCS / f"house-{side}.svg").write_text(draw(side), "utf-8")
