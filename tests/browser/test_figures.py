"""From a pin on a page to a file that is ready for a paper, in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.visits import READY
from viz_core.export import embedded

pytestmark = pytest.mark.browser
SHORT = "v=1&text=random&length=128&texts=2"  # what is measured here and now
FORMATS = {
    "PDF": "pdf",
    "SVG": "svg",
    "PNG": "png",
    "PGF, drawn by LaTeX": "pgf.zip",
    "Page, every number on hover": "html",
    "CSV of the numbers": "csv",
    "NPZ of the numbers": "npz",
    "LaTeX that includes the PDF": "tex",
    "ZIP of all these": "zip",
}


@pytest.fixture(autouse=True)
def patience(page: Page) -> None:
    """Every wait of these tests may take as long as a busy machine needs."""
    page.set_default_timeout(READY)
    page.set_viewport_size({"width": 1280, "height": 1100})
    expect.set_options(timeout=READY)


def choose(page: Page, label: str, option: str) -> None:
    """Takes an option of a select box, whose list a page that is drawn anew may close again."""
    wanted = page.get_by_role("option", name=option, exact=True)
    closed = page.get_by_role("combobox", name=label, exact=True, expanded=False)
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    while not wanted.is_visible():
        if closed.is_visible():
            closed.click()
    wanted.click()


def pin(page: Page, key: str) -> None:
    """Presses Pin under the figure called `key`."""
    button = page.locator(f".st-key-pin_{key}").get_by_role("button")
    expect(button).to_have_text(re.compile("Pin$"))
    button.click()
    expect(button).to_have_text(re.compile("Pinned$"))


def sheet(page: Page) -> Locator:
    """The picture at true size."""
    return page.locator(".sheet img")


def saved(page: Page, button: Locator, folder: Path) -> Path:
    """The file that a click on `button` downloads."""
    with page.expect_download() as download:
        button.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def sizes_of_type(pdf: bytes) -> set[float]:
    """The sizes of type that the streams of a PDF set, points."""
    found: set[float] = set()
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            text = zlib.decompress(stream)
        except zlib.error:
            continue  # not deflated: an image, say
        found |= {float(size) for size in re.findall(rb"/F[\w.-]+ ([\d.]+) Tf", text)}
    return found


def test_two_pinned_figures_leave_as_one_pdf_for_icml(
    server: str, page: Page, tmp_path: Path
) -> None:
    page.goto(f"{server}/?{SHORT}")
    pin(page, "maps")
    page.get_by_role("link", name="Encodings").click()
    pin(page, "atlas_curves")
    page.get_by_role("link", name="Figures (2)").click()
    expect(sheet(page)).to_be_visible()
    expect(page).to_have_url(re.compile("pins=map~.*~~encoding-curves"))
    choose(page, "For", "ICML")
    expect(page).to_have_url(re.compile("venue=icml"))
    expect(sheet(page)).to_have_css("width", "312px")  # 3.25 inches
    path = saved(page, page.get_by_role("button", name="Download PDF"), tmp_path)
    data = path.read_bytes()
    assert len(data) < 1 << 20
    width = float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", data)[1])
    assert width == pytest.approx(3.25 * 72, abs=0.1)
    assert b"/FontFile2" in data and b"/Type3" not in data
    assert min(sizes_of_type(data)) >= 6
    if shutil.which("pdffonts"):
        said = subprocess.run(["pdffonts", str(path)], capture_output=True, text=True, check=True)
        fonts = said.stdout.splitlines()[2:]
        assert fonts
        assert all(re.search(r"TrueType.* yes (yes|no) ", font) for font in fonts)
    source = embedded.read(path)
    assert source.figure == "tray"
    assert [word.partition("~")[0] for word in source.options["pins"]] == ["map", "encoding-curves"]


def test_a_figure_is_exported_in_every_format(server: str, page: Page, tmp_path: Path) -> None:
    page.goto(f"{server}/encodings")
    expect(page.locator("canvas.map")).to_have_count(2)
    row = page.locator(".st-key-leave_atlas_maps")
    row.evaluate("row => row.scrollIntoView({block: 'start'})")  # what opens stands below it
    row.get_by_role("button", name="Export").click()
    for name, ending in FORMATS.items():
        if name != "PDF":
            choose(page, "Format", name)
        kind = ending.partition(".")[0].upper()
        path = saved(page, page.get_by_role("button", name=f"Download {kind}"), tmp_path)
        assert path.name == f"encoding-maps.{ending}"
        if ending == "pgf.zip":
            with zipfile.ZipFile(path) as bundle:
                assert "encoding-maps.pgf" in bundle.namelist()
        elif ending == "tex":
            assert r"\includegraphics" in path.read_text()
        else:
            assert embedded.read(path).figure == "encoding-maps"


def test_an_address_and_a_json_bring_the_tray_to_someone_else(
    server: str, page: Page, context, tmp_path: Path
) -> None:
    page.goto(f"{server}/figures?v=1&pins=training-curves~~encoding-curves&venue=acl&columns=2")
    expect(sheet(page)).to_be_visible()
    page.get_by_text("Keep or share this tray").click()
    path = saved(page, page.get_by_role("button", name="Download as JSON"), tmp_path)
    link = page.get_by_test_id("stExpander").first.locator("code").text_content()
    assert link == page.url
    other = context.new_page()
    other.set_default_timeout(READY)
    other.goto(f"{server}/figures")
    other.get_by_text("Open a tray that was kept").click()
    other.locator("input[type=file]").set_input_files(path)
    expect(sheet(other)).to_be_visible()
    expect(other).to_have_url(re.compile("pins=training-curves~~encoding-curves"))
    other.get_by_role("radio", name="Deutan").click()
    expect(other.get_by_text("Machado")).to_be_visible()
    expect(other.get_by_role("link", name="Figures (2)")).to_be_visible()


def test_a_pin_leads_back_to_where_it_was_pinned(server: str, page: Page) -> None:
    page.goto(f"{server}/encodings?v=1&a=rope~scaling-yarn~factor-4")
    pin(page, "atlas_maps")
    page.get_by_role("link", name="Figures (1)").click()
    expect(sheet(page)).to_be_visible()
    page.locator(".st-key-tray_item0").get_by_role("link").click()
    expect(page).to_have_url(re.compile("encodings.*scaling-yarn"))
    expect(page.locator(".st-key-pin_atlas_maps")).to_contain_text("Pinned")
