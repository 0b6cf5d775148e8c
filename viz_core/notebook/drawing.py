"""Figures that show themselves in a notebook, and leave it as they would the app."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from viz_core import export, plates, texts
from viz_core.errors import AtlasError, UsageError
from viz_core.export import Export, data
from viz_core.export.provenance import Plain, Provenance, Source, digest
from viz_core.export.target import Target
from viz_core.figures import attention_maps
from viz_core.figures.spec import FigureSpec
from viz_core.notebook.measuring import Traced, place
from viz_core.render import paper
from viz_core.types import Range
from viz_core.words import PLAIN, mark, say, speaking

SHARP = 200  # dots per inch of what a notebook shows


@dataclass(frozen=True)
class Drawing:
    """A figure with its caption, its numbers and where it comes from.

    The last line of a cell, it shows itself; `save` writes it.
    """

    export: Export

    @property
    def spec(self) -> FigureSpec:
        """The figure as data: panels, caption, alt text."""
        return self.export.spec

    @property
    def caption(self) -> str:
        """What was averaged over what."""
        return self.spec.caption

    @property
    def command(self) -> str:
        """The command that draws it again."""
        return self.export.provenance.command

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """What is drawn: a row per point of a curve (x, y), and per cell of a map (value)."""
        rows = pd.read_csv(io.StringIO(data.table(self.spec, "", "")), comment="#")
        return rows.dropna(axis="columns", how="all")

    @cached_property
    def _png(self) -> bytes:
        name = self.export.name
        return replace(self.export, dpi=SHARP).files("png")[f"{name}.png"]

    def _repr_png_(self) -> bytes:
        return self._png

    def _repr_html_(self) -> str:
        picture = base64.b64encode(self._png).decode()
        width = round(self.export.target.sheet().width * 96 / 72)  # points to CSS pixels
        alt, caption = html.escape(self.spec.alt), html.escape(self.caption)
        # a white page under it in a dark notebook too: it is what will be printed
        return (
            f'<figure style="margin: 0; max-width: {width}px">'
            f'<img src="data:image/png;base64,{picture}" alt="{alt}" '
            'style="width: 100%; background: #FFFFFF">'
            f'<figcaption style="font-size: 0.85em">{caption}</figcaption></figure>'
        )

    def __repr__(self) -> str:
        return f"<{self.export.title}: {self.command}>"


def draw(figure: str, *, language: str = PLAIN, **options: Any) -> Drawing:
    """A ready figure by its id (`list_figures`), with the options of `python -m viz_core figure`,
    in `language`: "en" or "zh".

    Options have the command line's names with underscores, and its values: words, whole numbers,
    lists of either, such as `places=["alibi.3.2", "rope.3.1"]`. Raises UsageError for a figure or
    an option that there isn't, and as the figure does.
    """
    return Drawing(plates.get(figure).export(options, Target(language=language)))


def draw_map(
    traced: Traced,
    layer: int,
    head: int,
    rows: Range | None = None,
    columns: Range | None = None,
    linear: bool = False,
    language: str = PLAIN,
) -> Drawing:
    """The attention map of one head in the traced text, as a figure, whole or in part; in
    `language`, "en" or "zh".

    Colours are logarithmic unless `linear`. Its provenance has the text's hash, not the text: for a
    figure that others can draw again, `draw("map", ...)` names one that they have too. Raises as
    `map_attention` does.
    """
    c = traced.opened.checkpoint
    window = traced.window(layer, rows, columns)
    number = place(mark("head"), head, len(window.value))
    target = Target(language=language)
    target.sheet()  # raises for a language that there isn't
    with speaking(language):
        title = attention_maps.heading(traced.opened.name, layer, head)
        about = (title, c.config.encoding, c.config.length, traced.length)
        spec = attention_maps.build([attention_maps.Side(window, number, *about)], linear)
        called = say("Attention map of one head")
    options: dict[str, Plain | Sequence[Plain]] = {
        "places": [f"{c.id}.{layer}.{head}"],
        "scaling": [traced.opened.setting or "none"],
        "view": "probability",
        "map_scale": "linear" if linear else "log",
        "length": traced.length,
        "text": texts.PASTED,
    }
    if rows and columns:
        options |= {"queries": ["{}:{}".format(*rows)], "keys": ["{}:{}".format(*columns)]}
    sources = (
        Source("checkpoint", c.id, c.sha256),
        Source("text", "as traced", traced.text.sha256),
    )
    facts = {"cell": window.cell, "tokens": traced.length, "note": traced.text.note or None}
    arrays = digest(data.arrays(spec))
    made = Provenance("map", options, asdict(target), sources, facts, arrays)
    return Drawing(Export(spec, called, "map", target, made))


def save(
    drawing: Drawing,
    path: str | Path,
    venue: str = "neurips",
    columns: int | None = None,
    width: str | None = None,
    across: int | None = None,
    dpi: int = paper.DPI,
) -> list[Path]:
    """Writes `drawing` to `path` at a venue's exact width; returns the files that were written.

    The ending says what: .pdf .svg .png .pgf for paper, .html to look at, .csv .npz for numbers,
    .tex for LaTeX's figure environment, .zip for all of them. `width` ("88mm", "3.5in") instead of
    a venue's; `across`: charts in a row. Where it comes from is in each file. Raises UsageError,
    UnknownName; AtlasError where the disk refuses.
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in export.KINDS:
        known = ", ".join(f".{name}" for name in export.KINDS)
        raise UsageError(
            say(
                "Expected a file name that ends in {known}; got {file}.",
                known=known,
                file=path.name,
            )
        )
    target = Target(venue, columns, width, across, drawing.export.target.language)
    made = replace(drawing.export.provenance, target=asdict(target))
    one = replace(drawing.export, name=path.stem, target=target, provenance=made, dpi=dpi)
    found = []
    for name, content in one.files(kind).items():
        found.append(path.with_name(name))
        try:
            found[-1].write_bytes(content)
        except OSError as error:
            raise AtlasError(
                say("Could not write {path} ({error}).", path=found[-1], error=error.strerror)
            ) from None
    return found
