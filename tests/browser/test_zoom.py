"""Boxes drawn on a map, down to single tokens and back, in a real browser."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.visits import READY

pytestmark = pytest.mark.browser
SOME = 40  # tokens on an axis that are written out
WHERE = re.compile(r"queries ([\d,]+)–([\d,]+), keys ([\d,]+)–([\d,]+)")
# Keeps everything that is written on a canvas.
SPY = """
window.written = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
  window.written.push(text);
  return write.call(this, text, ...rest);
};
"""


@pytest.fixture(autouse=True)
def patience(page: Page) -> None:
    """Every wait of these tests may take as long as a busy machine needs."""
    page.set_default_timeout(READY)
    expect.set_options(timeout=READY)


def opened(page: Page, url: str, count: int = 2) -> None:
    page.set_viewport_size({"width": 1280, "height": 1400})
    page.goto(url)
    expect(page.locator("canvas.map")).to_have_count(count)


def move(page: Page, canvas: Locator, across: float, down: float) -> None:
    """The mouse to a place on a map's canvas, each way 0 .. 1, its margins included."""
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])


def drag(page: Page, panel: int, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Holds the button down from one place on a map to another; to be let go of."""
    canvas = page.locator("canvas.map").nth(panel)
    canvas.scroll_into_view_if_needed()
    move(page, canvas, *start)
    page.mouse.down()
    move(page, canvas, *end)


def zoomed(page: Page, panel: int, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draws a box and waits for its window."""
    where = page.locator(".where").nth(panel)
    before = where.text_content()
    drag(page, panel, start, end)
    page.mouse.up()
    expect(where).not_to_have_text(before)


def window(page: Page, panel: int = 0) -> list[int]:
    """First and last query and key of a map's heading."""
    found = WHERE.search(page.locator(".where").nth(panel).text_content())
    return [int(n.replace(",", "")) for n in found.groups()]


def test_boxes_lead_from_4096_tokens_to_single_ones_and_breadcrumbs_back(
    server: str, page: Page
) -> None:
    page.add_init_script(SPY)
    opened(page, f"{server}/?view=one&length=4096")
    zoomed(page, 0, (0.3, 0.5), (0.6, 0.8))
    first = window(page)
    assert (first[0] % 8, (first[1] + 1) % 8) == (0, 0)  # whole cells of 8 x 8 tokens
    for _ in range(9):
        if max(window(page)[1] - window(page)[0], window(page)[3] - window(page)[2]) < SOME:
            break
        zoomed(page, 1, (0.4, 0.4), (0.6, 0.7))
        assert window(page, 0) == window(page, 1)  # linked
    expect(page.locator(".where").first).to_contain_text("single tokens")
    a, b, c, d = window(page)
    expect(page).to_have_url(re.compile(f"za={a}-{b}.{c}-{d}"))
    move(page, page.locator("canvas.map").first, 0.5, 0.4)
    readout = page.locator("p.readout").first
    expect(readout).to_contain_text(re.compile("query [^–]* “"))  # one token, and its name
    token = re.search("“(.*?)”, key", readout.text_content()).group(1)
    assert token in page.evaluate("window.written")  # on the axis too
    page.get_by_role("button", name=f"queries {first[0]:,}–{first[1]:,}").click()
    expect(page.locator(".where").last).to_contain_text(f"queries {first[0]:,}–")
    assert window(page) == first
    page.get_by_role("button", name="Whole map").click()
    expect(page.locator(".where").first).to_have_text("all 4,096 tokens, cells of 8 × 8 tokens")
    expect(page).not_to_have_url(re.compile("za="))


def test_a_short_text_of_one_s_own_down_to_a_few_tokens(server: str, page: Page) -> None:
    page.add_init_script(SPY)
    text = "+".join(f"word{i}" for i in range(30))
    opened(page, f"{server}/?view=one&text=pasted&paste={text}&length=64&a=rope.1.1", 1)
    zoomed(page, 0, (0.4, 0.5), (0.6, 0.7))
    a, b, _, _ = window(page)
    assert b - a < SOME
    assert "word" in "".join(page.evaluate("window.written"))


def test_maps_that_are_not_linked_zoom_alone(server: str, page: Page) -> None:
    opened(page, f"{server}/?length=128&texts=2")
    page.get_by_text("Zoom together").click()
    expect(page).to_have_url(re.compile("linked=0"))
    expect(page.get_by_text("Whole map")).to_have_count(2)  # a trail each, above the maps
    zoomed(page, 1, (0.3, 0.5), (0.5, 0.7))
    expect(page).to_have_url(re.compile(r"zb=\d+-\d+\.\d+-\d+"))
    expect(page.locator(".where").first).to_have_text("all 128 tokens, single tokens")
    zoomed(page, 0, (0.3, 0.6), (0.4, 0.7))
    assert window(page, 0) != window(page, 1)


def test_no_box_by_a_click_by_escape_or_in_the_future(server: str, page: Page) -> None:
    opened(page, f"{server}/?length=128&texts=2")
    readout = page.locator("p.readout").first
    drag(page, 0, (0.4, 0.6), (0.401, 0.6))
    page.mouse.up()
    drag(page, 0, (0.4, 0.6), (0.6, 0.8))
    expect(readout).to_contain_text(re.compile(r"queries \d+–\d+, keys \d+–\d+: \d+ × \d+ tokens"))
    page.keyboard.press("Escape")
    expect(readout).to_have_text("Drag a box to zoom in.")
    page.mouse.up()
    drag(page, 0, (0.7, 0.1), (0.9, 0.3))
    page.mouse.up()
    expect(readout).to_have_text("Nothing to zoom into: every key there lies after every query.")
    expect(page.locator(".where").first).to_have_text("all 128 tokens, single tokens")
    assert "za=" not in page.url
    zoomed(page, 0, (0.3, 0.6), (0.4, 0.7))  # and a real one still works


def test_keys_zoom_around_the_crosshair_and_step_back(server: str, page: Page) -> None:
    opened(page, f"{server}/?view=one&length=128")
    canvas, readout = page.locator("canvas.map").first, page.locator("p.readout").first
    canvas.focus()
    page.keyboard.press("z")
    expect(readout).to_contain_text("Arrow keys place the crosshair")
    for key in ("Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowUp"):
        page.keyboard.press(key)
    expect(readout).to_contain_text(re.compile("query 117 .* key 20 "))
    page.keyboard.press("z")
    expect(page.locator(".where").first).to_have_text("queries 96–127, keys 5–36, single tokens")
    expect(canvas).to_be_focused()
    expect(readout).to_contain_text(re.compile("query 117 .* key 20 "))  # where it was
    page.keyboard.press("Enter")
    expect(page.locator(".where").first).to_have_text("queries 114–121, keys 17–24, single tokens")
    page.keyboard.press("Backspace")
    expect(page.locator(".where").last).to_contain_text("queries 96–127")
    page.keyboard.press("Backspace")
    expect(page.locator(".where").last).to_contain_text("all 128 tokens")
    page.keyboard.press("Backspace")
    expect(readout).to_have_text("This is the whole map.")


def test_the_readout_counts_the_pairs_of_a_cell(server: str, page: Page) -> None:
    opened(page, f"{server}/?length=777&view=one&a=rope.1.1", 1)  # cells of 2 x 2, the last cut
    canvas, readout = page.locator("canvas.map"), page.locator("p.readout")
    canvas.focus()
    page.keyboard.press("ArrowUp")
    seen = set()
    for key in ("ArrowDown", *["Shift+ArrowRight"] * 39):  # along the cut last row, to its end
        page.keyboard.press(key)
        expect(readout).to_contain_text("pair")
        text = readout.text_content()
        query, key_range = (
            [int(n) for n in m.split("–")] for m in re.findall(r"(?:query|key) ([\d–]+)", text)
        )
        rows, columns = (range(r[0], r[-1] + 1) for r in (query, key_range))
        pairs = sum(k <= q for q in rows for k in columns)
        assert f"{pairs} pair{'s' * (pairs != 1)}: mean A = " in text
        seen.add(pairs)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")  # onto the diagonal
    expect(readout).to_contain_text("3 pairs")
    assert seen == {1, 2}
