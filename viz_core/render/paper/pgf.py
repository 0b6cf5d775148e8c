"""A figure as PGF commands, which LaTeX sets in the document's own type.

matplotlib asks a running LaTeX how wide words are. Here they are measured in the face of the other
formats, with room for one an eighth wider (as Computer Modern is), so no TeX is needed to write the
file. Images lie beside it.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.backends.backend_pgf import RendererPgf
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.transforms import Transform
from PIL import Image

from viz_core.render.paper import tex
from viz_core.render.venues import Sheet

WIDER = 9 / 8


def roomy(sheet: Sheet) -> Sheet:
    """What a figure is composed for that `files` is then given: type is as large as the room."""
    return replace(sheet, title=WIDER * sheet.title, text=WIDER * sheet.text)


def files(figure: Figure, stem: str, comment: str) -> dict[str, bytes]:
    """`stem`.pgf, which starts with `comment` and what its letters need of a document, and the
    images that it includes."""
    wide, high = figure.get_size_inches()
    code = io.StringIO()
    renderer = _Pgf(figure, code, stem)
    figure.draw(renderer)
    lines = (
        *(f"% {line}" for line in comment.splitlines()),
        *tex.needs(code.getvalue()).splitlines(),
        *(r"\begingroup%", r"\makeatletter%", r"\begin{pgfpicture}%"),
        rf"\pgfpathrectangle{{\pgfpointorigin}}{{\pgfqpoint{{{wide:f}in}}{{{high:f}in}}}}%",
        r"\pgfusepath{use as bounding box}%",
        code.getvalue() + r"\end{pgfpicture}%",
        *(r"\makeatother%", r"\endgroup%"),
    )
    return {f"{stem}.pgf": ("\n".join(lines) + "\n").encode(), **renderer.images}


class _Pgf(RendererPgf):
    def __init__(self, figure: Figure, code: io.StringIO, stem: str) -> None:
        super().__init__(figure, code)  # type: ignore[no-untyped-call]
        self.stem = stem
        self.images: dict[str, bytes] = {}
        self._ruler: Any = RendererAgg(1, 1, figure.dpi)  # type: ignore[no-untyped-call]

    def get_text_width_height_descent(
        self, s: str, prop: FontProperties, ismath: Any
    ) -> tuple[float, float, float]:
        width, height, descent = self._ruler.get_text_width_height_descent(s, prop, ismath)
        return width, height, descent

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,
        mtext: Text | None = None,
    ) -> None:
        plain, small = s if ismath else tex.escaped(s), prop.copy()
        small.set_size(prop.get_size_in_points() / WIDER)
        super().draw_text(gc, x, y, plain, small, angle, ismath, mtext)  # type: ignore[no-untyped-call]

    def draw_image(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        im: npt.ArrayLike,
        transform: Transform | None = None,
    ) -> None:
        assert transform is not None  # images keep their own resolution
        name = f"{self.stem}-img{len(self.images)}.png"
        image = io.BytesIO()
        Image.fromarray(np.asarray(im)[::-1]).convert("RGB").save(image, "PNG", optimize=True)
        self.images[name] = image.getvalue()
        inch = 1 / self.dpi
        placed: Any = transform.frozen()
        a, b, c, d, e, f = placed.to_values()
        shift = f"{{{(e + x) * inch:f}in}}{{{(f + y) * inch:f}in}}"
        self.fh.write("\\begin{pgfscope}%\n")
        self._print_pgf_clip(gc)  # type: ignore[no-untyped-call]
        self.fh.write(
            f"\\pgfsys@transformcm{{{a * inch:f}}}{{{b * inch:f}}}{{{c * inch:f}}}{{{d * inch:f}}}"
            f"{shift}%\n\\pgftext[left,bottom]{{\\includegraphics[interpolate=false,width=1in,"
            f"height=1in]{{{name}}}}}%\n\\end{{pgfscope}}%\n"
        )
