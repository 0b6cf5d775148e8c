"""What people leave with: a figure in every format, with where it comes from in each file.

PDF, SVG, PNG and PGF for paper, an interactive page, the numbers as CSV and NPZ, and a bundle of
all with the caption, the LaTeX and the command. Equal figures give equal files.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from viz_core.errors import UnknownName
from viz_core.export import data, latex, page
from viz_core.export.provenance import PROGRAM, Provenance
from viz_core.export.target import Target
from viz_core.figures.spec import FigureSpec
from viz_core.render import paper
from viz_core.render.paper import letters
from viz_core.words import mark, sentences, speaking

LONG_AGO = (1980, 1, 1, 0, 0, 0)  # of files in a bundle, so that equal ones are equal


@dataclass(frozen=True)
class Export:
    """A figure that is ready to be written.

    `name` is the stem of its files and its label in LaTeX; `dpi` that of a PNG.
    """

    spec: FigureSpec
    title: str
    name: str
    target: Target
    provenance: Provenance
    dpi: float = paper.DPI

    def __post_init__(self) -> None:
        """What was assumed of a checkpoint, and how its texts begin, stands in the caption."""
        caveats = dict.fromkeys(s.caveat for s in self.provenance.sources if s.caveat)
        if caveats:
            caption = sentences(self.spec.caption, *caveats)
            object.__setattr__(self, "spec", replace(self.spec, caption=caption))

    def files(self, kind: str) -> dict[str, bytes]:
        """The files of one kind (KINDS) by name: one, and the images that a PGF includes; what
        they say of their own is in the language of the target.

        Raises as `check`.
        """
        check(kind, self.target)
        with speaking(self.target.language):
            return KINDS[kind](self)

    def about(self) -> paper.About:
        """What its files say of themselves."""
        source = self.provenance
        program = f"{PROGRAM} {source.version}"
        return paper.About(self.title, self.spec.caption, program, source.json())

    def latex(self) -> str:
        """The figure environment that includes the PDF."""
        width = self.target.sheet().width if self.target.width else None
        command = self.provenance.command
        about = self.name, self.spec.caption, command
        return latex.snippet(*about, width, self.target.both)


def check(kind: str, target: Target) -> None:
    """Raises, before any work, UnknownName for a kind that is none of KINDS, AtlasError where a
    file of that kind needs letters that this machine hasn't, and as `Target.sheet` does."""
    if kind not in KINDS:
        raise UnknownName(mark("a format"), kind, list(KINDS))
    target.sheet()
    if kind in (*paper.KINDS, "zip"):
        letters.faces(target.language)


def _drawn(one: Export, kinds: Sequence[str] = paper.KINDS) -> dict[str, bytes]:
    return paper.draw(one.spec, one.target.sheet(), kinds, one.name, one.about(), one.dpi)


def _html(one: Export) -> dict[str, bytes]:
    source = one.provenance
    text = page.page(one.spec, one.title, source.command, source.json())
    return {f"{one.name}.html": text.encode()}


def _csv(one: Export) -> dict[str, bytes]:
    source = one.provenance
    return {f"{one.name}.csv": data.table(one.spec, source.command, source.json()).encode()}


def _npz(one: Export) -> dict[str, bytes]:
    return {f"{one.name}.npz": data.npz(one.spec, one.provenance.json())}


def _tex(one: Export) -> dict[str, bytes]:
    return {f"{one.name}.tex": one.latex().encode()}


def _bundle(one: Export) -> dict[str, bytes]:
    files = _drawn(one)
    files |= {f"{one.name}-grey.png": paper.grey(files[f"{one.name}.png"])}
    files |= {**_html(one), **_csv(one), **_npz(one), **_tex(one)}
    files |= {
        "caption.txt": f"{one.spec.caption}\n".encode(),
        "alt.txt": f"{one.spec.alt}\n".encode(),
        "command.txt": f"{one.provenance.command} --out {one.name}.pdf\n".encode(),
        "provenance.json": f"{one.provenance.json(indent=2)}\n".encode(),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as bundle:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            bundle.writestr(entry, content)
    return {f"{one.name}.zip": out.getvalue()}


KINDS: dict[str, Callable[[Export], dict[str, bytes]]] = {
    **{kind: partial(_drawn, kinds=(kind,)) for kind in paper.KINDS},
    "html": _html,
    "csv": _csv,
    "npz": _npz,
    "tex": _tex,
    "zip": _bundle,
}
