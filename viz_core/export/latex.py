"""What a paper's source takes: the figure at its width, its caption and its label."""

from __future__ import annotations

from viz_core.render.paper import tex


def snippet(
    name: str,
    caption: str,
    command: str,
    width: float | None = None,
    both: bool = False,
) -> str:
    """A LaTeX figure that includes `name`.pdf; over `both` columns, or else over the current one.

    `width`, points of 1/72 inch, for a figure that isn't as wide as its column. What the letters
    of the caption need of the document stands in a comment.
    """
    kind = "figure*" if both else "figure"
    said = tex.escaped(caption).replace(" \\%", "~\\%")  # a number stays with its unit
    size = r"\linewidth" if width is None else f"{width:.2f}bp"
    return (
        f"% {command}\n{tex.needs(caption)}"
        f"\\begin{{{kind}}}[t]\n"
        "  \\centering\n"
        f"  \\includegraphics[width={size}]{{{name}.pdf}}\n"
        f"  \\caption{{{said}}}\n"
        f"  \\label{{fig:{name}}}\n"
        f"\\end{{{kind}}}\n"
    )
