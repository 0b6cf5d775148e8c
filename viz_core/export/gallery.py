"""A page of figures, in Markdown: each as a picture, with its caption, its file and its command."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.export import Export

MARK = "<!-- Written by `python -m viz_core figure --gallery docs/gallery`. -->"


def page(title: str, about: str, figures: Sequence[Export]) -> str:
    """The page; the pictures `name`.png and files `name`.pdf lie beside it."""
    lines = [MARK, "", f"# {title}", "", about, ""]
    before = ""
    for one in figures:
        width = round(one.target.sheet().width * 96 / 72)  # pixels of a page on the screen
        if one.title != before:
            lines += [f"## {one.title}", ""]
        before = one.title
        lines += [
            f'<img src="{one.name}.png" width="{width}" alt="{_quoted(one.spec.alt)}">',
            "",
            one.spec.caption,
            "",
            f"[{one.name}.pdf]({one.name}.pdf)",
            "",
            "```",
            f"{one.provenance.command} --out {one.name}.pdf",
            "```",
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def _quoted(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
