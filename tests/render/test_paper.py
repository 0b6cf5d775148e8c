"""Figures on paper: what the screen shows, at an exact width, in files that venues take."""

from __future__ import annotations

import base64
import io
import re
import shutil
import subprocess
import threading
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from fontTools.ttLib import TTFont
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from tests.render.legible import assert_legible
from viz_core.errors import UnknownName
from viz_core.figures.spec import Axis, Band, Chart, FigureSpec, Heatmap, Line, Scale
from viz_core.render import canvas, palette, paper, png, screen
from viz_core.render.paper import maps, page, style
from viz_core.render.venues import VENUES, Sheet

SHEETS = [("acl", 1), ("icml", 2), ("neurips", 1), ("jmlr", 1)]  # tests/plates has them all
SVG = "{http://www.w3.org/2000/svg}"
ABOUT = paper.About("Title", "Caption, 95 % · θ", "Program 1", '{"a": "(\\\\)"}')


def heatmap(title: str = "map", accent: str = "alibi", n: int = 32, **change: object) -> Heatmap:
    value = np.linspace(-4, 0, n * n, dtype=np.float32).reshape(n, n)
    count = np.tril(np.ones((n, n), dtype=np.int64))
    value[count == 0] = np.nan
    ticks = ((-4.0, "1e-4"), (-2.0, "1e-2"), (0.0, "1"))
    scale = Scale("cividis", -4.0, 0.0, "geometric mean of attention A", ticks)
    panel = Heatmap(title, accent, value, count, (0, 2 * n), (0, 2 * n), 2, "log10 A", scale)
    return replace(panel, **change)


def chart(title: str = "chart", accent: str = "rope", **change: object) -> Chart:
    x = np.array([256.0, 512.0, 1024.0, 2048.0])
    band = Band(x / 20, x / 8, "95 %")
    lines = (
        Line("law", x, x / 11, "ink", dash="dash", group="laws"),
        Line("up", x, x / 10, "rope", strong=True, band=band, markers=True, label="up"),
        Line("pale", x, x / 13, "alibi", 0.5, "dot", label="pale"),
        Line("short", x, np.where(x > 512, np.nan, x / 9), "learned", label="short"),
    )
    ticks = tuple((v, f"{v:,.0f}") for v in x)
    panel = Chart(
        title,
        accent,
        lines,
        Axis("length N (tokens)", (230.0, 2300.0), True, ticks),
        Axis("perplexity", (10.0, 260.0), True, ((10.0, "10"), (100.0, "100"))),
        marks=((512.0, "trained length 512"),),
        marks_on_top=True,
        levels=((200.0, "a level"),),
    )
    return replace(panel, **change)


def figure_of(*panels: Heatmap | Chart) -> FigureSpec:
    return FigureSpec(panels, "A caption.", "Alt text.")


MIXED = figure_of(
    *(heatmap(f"ALiBi, layer 3, head {h}") for h in (2, 4, 6)),
    *(heatmap(f"RoPE, layer 3, head {h}", "rope") for h in (1, 6, 8)),
    chart("Decay of ALiBi, and what it is called"),
    chart("Another", x=Axis("distance (tokens)", (200.0, 2300.0))),
)
TABLE = figure_of(
    *(
        chart(f"{name}, layer {layer}", lines=chart().lines[:1], marks=(), levels=())
        for name in ("ALiBi", "RoPE", "Sinusoidal")
        for layer in (1, 2, 3, 4)
    )
)
WALL = figure_of(
    *(heatmap(f"layer {layer}, head {h + 1}") for layer in (1, 2, 3) for h in range(8))
)
FIGURES = {"mixed": MIXED, "table": TABLE, "wall": WALL, "map": figure_of(heatmap())}
FIGURES |= {"chart": figure_of(chart()), "pair": figure_of(heatmap("one"), chart("two"))}


def composed(spec: FigureSpec, sheet: Sheet) -> Figure:
    with style.settings(sheet.text):
        return page.compose(spec, sheet)


def files(spec: FigureSpec, *kinds: str, sheet: Sheet | None = None) -> dict[str, bytes]:
    return paper.draw(spec, sheet or Sheet(252.0), kinds, "fig", ABOUT)


def panels(figure: Figure) -> list[mpl.axes.Axes]:
    """The axes of panels, as they were numbered."""
    found = [ax for ax in figure.axes if ax.get_label() != "bar"]
    return sorted(found, key=lambda ax: int(ax.get_label()))


@pytest.mark.parametrize(("venue", "columns"), SHEETS)
@pytest.mark.parametrize("name", list(FIGURES))
def test_figures_are_legible_at_the_exact_width(name: str, venue: str, columns: int) -> None:
    sheet = VENUES[venue].sheet(columns)
    figure = composed(FIGURES[name], sheet)
    assert 72 * figure.get_size_inches()[0] == pytest.approx(sheet.width, abs=1e-9)
    assert_legible(figure)


def test_a_pdf_s_page_is_the_sheet_s_width_and_as_high_as_the_figure() -> None:
    sheet = VENUES["ieee"].sheet(1)
    data = files(MIXED, "pdf", sheet=sheet)["fig.pdf"]
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", data)
    wide, high = (float(n) for n in box.groups())
    figure = composed(MIXED, sheet)
    assert wide == pytest.approx(sheet.width, abs=0.01)
    assert high == pytest.approx(72 * figure.get_size_inches()[1], abs=0.01)


def test_lines_have_the_screen_s_colours_limits_ticks_and_order() -> None:
    spec = figure_of(chart("one"), chart("two", y=Axis("nats", (1.0, 300.0))))
    drawn = panels(composed(spec, Sheet(400.0)))
    for panel, ax in zip(spec.panels, drawn, strict=True):
        shown = screen.chart(panel)
        theirs = {t.name: t.line for t in shown.data}
        ours = {line.get_label(): line for line in ax.lines}
        for line in panel.lines:
            name = line.group or line.name
            assert to_hex(ours[line.name].get_color()).upper() == theirs[name].color
        for axis, ticks, limits, read in (
            (shown.layout.xaxis, ax.get_xticks(), ax.get_xlim(), panel.x),
            (shown.layout.yaxis, ax.get_yticks(), ax.get_ylim(), panel.y),
        ):
            ends = 10 ** np.array(axis.range) if axis.type == "log" else axis.range
            assert limits == pytest.approx(ends)
            if read.ticks is not None:
                np.testing.assert_array_equal(ticks, axis.tickvals)
        marks = {line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1}
        assert marks == {512.0}


def test_labels_of_ticks_are_the_screen_s_with_minus_signs() -> None:
    ticks = ((-12.0, "-12"), (-6.0, "-6"), (1e-3, "1e-3"))
    panel = chart(y=Axis("nats", (-13.0, 1.0), ticks=ticks), lines=chart().lines[:1])
    (ax,) = panels(composed(figure_of(panel), Sheet(400.0)))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["−12", "−6", "1e−3"]


def test_labels_of_ticks_stay_apart_on_both_axes() -> None:
    ticks = tuple((float(n), f"{n}") for n in range(0, 100, 2))
    axis = Axis("tokens", (0.0, 100.0), ticks=ticks)
    panel = chart(x=axis, y=axis, lines=chart().lines[:1], marks=(), levels=())
    figure = composed(figure_of(panel), Sheet(110.0))
    assert_legible(figure)
    (ax,) = panels(figure)
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        assert 2 < sum(label.get_text() != "" for label in labels) < len(ticks) == len(labels)


def test_cells_have_the_screen_s_colours_and_empty_ones_none() -> None:
    panel = heatmap()
    (ax,) = panels(composed(figure_of(panel), Sheet(252.0)))
    (image,) = ax.images
    cells = image.get_array()
    assert cells.shape == (32, 32, 3)  # one for each value: nothing is resampled
    thumbnail = np.array(Image.open(io.BytesIO(png.thumbnail(panel))).convert("RGBA"))
    filled = panel.count > 0
    np.testing.assert_array_equal(cells[filled], thumbnail[filled][:, :3])
    assert (cells[~filled] == 255).all()
    message = canvas.message(panel, [])
    level = (panel.value[filled] - message["low"]) / (message["high"] - message["low"])
    table = palette.table(panel.scale.colours)[np.round(255 * level).astype(int)]
    assert np.abs(cells[filled].astype(int) - table.astype(int)).max() <= 3


def test_maps_have_the_limits_of_their_ranges_and_bars_those_of_their_scale() -> None:
    panel = heatmap(rows=(64, 128), columns=(0, 64))
    figure = composed(figure_of(panel), Sheet(252.0))
    (ax,), bar = panels(figure), figure.axes[-1]
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 64), (128, 64))
    assert bar.get_ylim() == (panel.scale.low, panel.scale.high)
    assert list(bar.get_yticks()) == [v for v, _ in panel.scale.ticks]
    assert [t.get_text() for t in bar.get_yticklabels()] == ["1e−4", "1e−2", "1"]


def test_a_wall_has_its_bar_below_where_beside_it_maps_would_be_small() -> None:
    for width, below in ((218.0, True), (486.0, False)):
        figure = composed(WALL, Sheet(width))
        bar = next(ax for ax in figure.axes if ax.get_label() == "bar").get_position()
        maps = [ax.get_position() for ax in panels(figure)]
        assert (bar.y1 < min(m.y0 for m in maps)) == below
        assert (bar.x0 > max(m.x1 for m in maps)) != below


def test_values_beyond_the_limits_take_the_colour_of_the_end() -> None:
    loud = heatmap(value=np.array([[9.0, np.nan], [-9.0, -4.0]], np.float32), count=np.eye(2))
    colours = maps.image(loud)
    table = palette.table("cividis")
    np.testing.assert_array_equal(colours[0, 0], table[-1])
    np.testing.assert_array_equal(colours[1, 0], table[0])


def test_a_map_marks_the_trained_length_where_it_has_been_passed() -> None:
    def lines(mark: int | None) -> int:
        (ax,) = panels(composed(figure_of(heatmap(mark=mark)), Sheet(252.0)))
        return len(ax.lines)

    assert lines(None) == 0
    assert lines(32) == 4  # the query and the diagonal, white on black each


def test_panels_stand_in_the_order_of_the_figure() -> None:
    for spec in (MIXED, TABLE, WALL):
        figure = composed(spec, Sheet(252.0))
        places = [ax.get_position() for ax in panels(figure)]
        order = sorted(range(len(places)), key=lambda i: (-round(places[i].y1, 3), places[i].x0))
        assert order == list(range(len(places)))


def test_maps_of_a_block_share_size_scale_and_one_bar() -> None:
    figure = composed(MIXED, Sheet(396.0))
    sizes = [ax.get_position().size * figure.get_size_inches() for ax in panels(figure)[:6]]
    np.testing.assert_allclose(sizes, np.full((6, 2), sizes[0][0]), rtol=1e-6)
    assert [ax.get_label() for ax in figure.axes].count("bar") == 1


def test_fonts_in_a_pdf_are_embedded_truetype(tmp_path: Path) -> None:
    path = tmp_path / "fig.pdf"
    path.write_bytes(files(MIXED, "pdf")["fig.pdf"])
    assert b"/FontFile2" in path.read_bytes() and b"/CIDFontType2" in path.read_bytes()
    assert b"/Type3" not in path.read_bytes()
    if shutil.which("pdffonts"):
        said = subprocess.run(["pdffonts", str(path)], capture_output=True, text=True, check=True)
        fonts = said.stdout.splitlines()[2:]
        assert fonts and all("CID TrueType" in f and " yes yes " in f for f in fonts)


def test_text_in_an_svg_is_text_with_its_letters_beside_it() -> None:
    data = files(figure_of(chart("A “title” – θ"), chart("b")), "svg")["fig.svg"]
    root = ET.fromstring(data)
    texts = ["".join(t.itertext()) for t in root.iter(SVG + "text")]
    assert "A “title” – θ" in texts and "(a)" in texts
    faces = re.findall(rb"font-weight:(\d+);src:url\(data:font/ttf;base64,([\w+/=]+)\)", data)
    assert [weight for weight, _ in faces] == [b"400", b"700"]
    for _, face in faces:
        with TTFont(io.BytesIO(base64.b64decode(face))) as font:
            known = font.getBestCmap()
            assert all(ord(letter) in known for letter in set("".join(texts)))
            assert len(known) < 100  # not the 3,000 of the whole


def test_images_in_files_are_as_large_as_the_maps() -> None:
    made = files(figure_of(heatmap()), "pdf", "svg", "pgf")
    assert re.search(rb"/Width 32\b", made["fig.pdf"])
    assert re.search(rb"/Height 32\b", made["fig.pdf"])
    with Image.open(io.BytesIO(made["fig-img0.png"])) as image:
        assert image.size == (32, 32)
    assert b"\\includegraphics" in made["fig.pgf"]


def test_equal_figures_are_equal_files_whatever_a_person_has_set() -> None:
    first = files(MIXED, *paper.KINDS)
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "red"}):
        again = files(MIXED, *paper.KINDS)
        assert mpl.rcParams["font.size"] == 30
    assert first == again
    assert b"CreationDate" not in first["fig.pdf"]


def test_threads_draw_one_after_the_other() -> None:
    specs = [figure_of(chart("one")), figure_of(heatmap())] * 2
    alone = [files(spec, "pdf") for spec in specs]
    found: dict[int, dict[str, bytes]] = {}
    threads = [
        threading.Thread(target=lambda i=i, s=s: found.update({i: files(s, "pdf")}))
        for i, s in enumerate(specs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[i] for i in range(4)] == alone


def test_a_png_has_the_dots_that_were_asked_for_and_says_where_it_is_from() -> None:
    data = paper.draw(figure_of(chart()), Sheet(360.0), ["png"], "fig", ABOUT, dpi=150)["fig.png"]
    with Image.open(io.BytesIO(data)) as image:
        assert image.size[0] == 750
        assert image.info["Provenance"] == ABOUT.provenance
        assert image.info["Description"] == ABOUT.caption
    grey = Image.open(io.BytesIO(paper.grey(data)))
    assert (grey.mode, grey.size[0]) == ("L", 750)


def test_a_pgf_needs_no_tex_and_escapes_what_tex_would_read() -> None:
    made = files(figure_of(chart("50 % of α_1 & more")), "pgf")
    code = made["fig.pgf"].decode()
    assert list(made) == ["fig.pgf"]
    assert r"50 \% of α\_1 \& more" in code
    assert code.count(r"\begin{pgfscope}") == code.count(r"\end{pgfscope}") > 0
    assert code.startswith("% Program 1\n% provenance ")
    body = [line for line in code.splitlines() if not line.startswith("% ")]
    assert body[2] == r"\begin{pgfpicture}%"
    assert r"\fontsize{7.000000}" in code  # the sheet's, though room is made for wider type


def test_another_format_is_refused() -> None:
    with pytest.raises(UnknownName, match="Expected a format among pdf, svg, png, pgf; got 'eps'"):
        files(MIXED, "eps")
