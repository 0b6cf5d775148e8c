"""Figures in Chinese on paper: as legible and as well embedded as in English."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from matplotlib import font_manager

from tests.figures.test_contract import build
from tests.render.legible import assert_legible
from viz_core import export
from viz_core.errors import AtlasError, UnknownName
from viz_core.export.target import Target
from viz_core.figures.spec import Axis, Chart, Line
from viz_core.render import paper, screen
from viz_core.render.paper import arrangement, letters, page, style
from viz_core.render.venues import VENUES, Sheet
from viz_core.words import speaking

READY = [
    *("staircase-ripples", "decay-grid", "head-wall", "extrapolation", "training-curves"),
    "encoding-atlas",
]
ABOUT = paper.About("标题", "图注。", "Program 1", "{}")
HAN = re.compile("[\u4e00-\u9fff]")


def installed() -> bool:
    try:
        return bool(letters.faces("zh"))
    except AtlasError:
        return False


needs_letters = pytest.mark.skipif(
    not installed(), reason="needs a font with Chinese letters, such as fonts-wqy-microhei"
)


@pytest.fixture
def chinese() -> Iterator[None]:
    with speaking("zh"):
        yield


@needs_letters
@pytest.mark.parametrize("venue", ["acl", "neurips"])
@pytest.mark.parametrize("name", READY)
def test_ready_made_figures_are_legible_at_the_exact_width(name, venue, chinese) -> None:
    sheet = VENUES[venue].sheet(1)
    with style.settings(sheet.text):
        figure = page.compose(build(name), sheet)
    assert 72 * figure.get_size_inches()[0] == pytest.approx(sheet.width, abs=1e-9)
    assert_legible(figure)
    assert sum(bool(HAN.search(text.get_text())) for text in figure.findobj(match=_text)) >= 2


def _text(artist: object) -> bool:
    return hasattr(artist, "get_text")


@needs_letters
def test_panels_stand_as_they_do_in_english() -> None:
    sheet = VENUES["neurips"].sheet(1)

    def places(name: str) -> list[object]:
        bands = arrangement.arrange(build(name).panels, sheet)
        return [
            [(block.panels, block.across, len(block.columns), len(block.rows)) for block in row]
            for band in bands
            for row in band.rows
        ]

    for name in READY:
        english = places(name)
        with speaking("zh"):
            assert places(name) == english


@needs_letters
def test_a_pdf_embeds_both_faces_as_truetype(chinese) -> None:
    data = paper.draw(build("staircase-ripples"), Sheet(396.0), ["pdf"], "x", ABOUT)["x.pdf"]
    assert b"/Type3" not in data and b"/FontFile3" not in data
    named = set(re.findall(rb"/BaseFont /\w+\+([\w-]+)", data))
    assert len(named) >= 2 and any(b"STIX" in name for name in named)


@needs_letters
def test_an_svg_has_every_letter_of_its_words(chinese) -> None:
    data = paper.draw(build("training-curves"), Sheet(252.0), ["svg"], "x", ABOUT)["x.svg"]
    texts = "".join("".join(t.itertext()) for t in ET.fromstring(data).iter() if "text" in t.tag)
    assert HAN.search(texts)
    known: set[int] = set()
    for face in re.findall(rb"src:url\(data:font/ttf;base64,([\w+/=]+)\)", data):
        with TTFont(io.BytesIO(base64.b64decode(face))) as font:
            known |= set(font.getBestCmap())
    assert {ord(letter) for letter in texts if letter.strip()} <= known
    assert len(data) < 200_000  # not the 5 MB of the whole face


@needs_letters
def test_a_pgf_says_what_its_document_needs(chinese) -> None:
    code = paper.draw(build("training-curves"), Sheet(252.0), ["pgf"], "x", ABOUT)["x.pgf"].decode()
    assert re.search(r"^% .*\\usepackage\{ctex\}", code, re.MULTILINE)
    assert "已见词元（百万）" in code


@needs_letters
def test_equal_figures_are_equal_files(chinese) -> None:
    first = paper.draw(build("training-curves"), Sheet(252.0), ["pdf"], "x", ABOUT)
    assert paper.draw(build("training-curves"), Sheet(252.0), ["pdf"], "x", ABOUT) == first


@needs_letters
def test_chinese_is_broken_between_its_letters_but_not_before_a_stop(chinese) -> None:
    room = style.width("注意力的几何", 7)
    assert style.lines("注意力的几何均值", 7, room) == ["注意力的几何", "均值"]
    assert style.lines("注意力的几何，均值", 7, room) == ["注意力的几", "何，均值"]
    assert style.lines("见（第 3 层）", 7, style.width("见（第", 7)) == ["见", "（第 3 层）"]
    assert style.lines("T5 bias 的衰减", 7, style.width("T5 bias", 7) + 5) == ["T5 bias", "的衰减"]


def test_titles_are_taken_apart_at_the_commas_of_their_language() -> None:
    line = Line("a", np.arange(9.0), np.arange(9.0), "rope")

    def table(titles: list[str]) -> arrangement.Block:
        axes = Axis("x", (0.0, 9.0)), Axis("y", (0.0, 9.0))
        (block,) = arrangement.blocks_of([Chart(t, "rope", (line,), *axes) for t in titles])
        return block

    names = "RoPE, PI s = 4", "RoPE"
    english = table([f"{name}, layer {n}" for name in names for n in (1, 2)])
    chinese = table([f"{name}，第 {n} 层" for name in names for n in (1, 2)])
    assert english.rows == chinese.rows == names
    assert chinese.columns == ("第 1 层", "第 2 层")


def test_without_a_font_it_is_said_before_any_work(monkeypatch) -> None:
    letters.faces.cache_clear()
    monkeypatch.setattr(letters, "FAMILIES", {"zh": ("No Such Face",)})
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    try:
        with pytest.raises(AtlasError, match=r"^Expected a font with .* apt install fonts-wqy"):
            export.check("pdf", Target(language="zh"))
        export.check("csv", Target(language="zh"))
        export.check("pdf", Target())
    finally:
        letters.faces.cache_clear()


def test_another_language_is_refused() -> None:
    with pytest.raises(UnknownName, match="Expected a language among en, zh; got 'tlh'"):
        Target(language="tlh").sheet()


def test_the_screen_leaves_room_for_chinese_labels() -> None:
    def right(label: str) -> float:
        line = Line("a", np.arange(3.0), np.arange(3.0), "rope", label=label)
        panel = Chart("t", "rope", (line,), Axis("x", (0.0, 3.0)), Axis("y", (0.0, 3.0)))
        return float(screen.chart(panel).layout.margin.r)

    assert right("查询之后的键") - right("") == pytest.approx(6 * 12, abs=2)
    assert right("keys") == 16 + round(4 * screen.LETTER)
