"""Decay in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visits import READY

pytestmark = pytest.mark.browser
SHORT = "text=random&length=128&texts=2"  # what is measured here and now


def title(page: Page, text: str):
    return page.locator(".js-plotly-plot .gtitle", has_text=text).first


def multiples(page: Page):
    """The figures with a panel per layer and head."""
    return page.locator(".js-plotly-plot", has_text=re.compile(r"L1 H\d"))


def test_shipped_results_are_shown_without_a_measurement(server: str, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server}/decay", timeout=READY)
    expect(multiples(page)).to_have_count(2, timeout=READY)
    expect(multiples(page).first.locator(".scatterlayer path.js-line").first).to_be_attached()
    expect(title(page, "T5 bias · score")).to_be_visible(timeout=READY)
    expect(page.get_by_role("cell", name="Heads with RoPE's ripples, of 32")).to_be_visible()
    assert asked
    assert all(url.startswith((server, "data:", "blob:")) for url in asked)


def test_another_head_is_another_address_that_reopens_it(server: str, page: Page, context) -> None:
    page.goto(f"{server}/decay?v=1&chosen=rope", timeout=READY)
    expect(title(page, "RoPE · R²")).to_be_visible(timeout=READY)
    page.get_by_role("radiogroup", name="Head").get_by_role("radio", name="7").click()
    expect(page).to_have_url(re.compile(r"head=7"), timeout=READY)
    again = context.new_page()
    again.goto(page.url)
    expect(again.get_by_text("layer 2, head 7, row fixed effects")).to_be_visible(timeout=READY)


def test_halves_of_a_layer_stand_one_below_the_other_on_a_phone(server: str, page: Page) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{server}/decay?v=1&chosen=alibi", timeout=READY)
    expect(multiples(page)).to_have_count(2, timeout=READY)
    first, second = (multiples(page).nth(i).bounding_box() for i in (0, 1))
    assert second["y"] >= first["y"] + first["height"]
    assert first["x"] + first["width"] <= 420


def test_another_setting_is_a_map_of_differences_that_can_be_zoomed(
    server: str, page: Page
) -> None:
    page.goto(f"{server}/decay?v=1&chosen=rope&{SHORT}", timeout=READY)
    expect(title(page, "RoPE · R²")).to_be_visible(timeout=READY)
    page.get_by_role("button", name="Compute").click()
    maps = page.locator("canvas.map")
    expect(maps).to_have_count(1, timeout=READY)
    expect(title(page, "Their difference")).to_be_visible(timeout=READY)
    maps.focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator("p.readout")).to_contain_text("A over that of RoPE = ")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("z")
    way_back = re.compile("Backspace goes back")
    expect(maps).to_have_attribute("aria-label", way_back, timeout=READY)
    maps.focus()
    page.keyboard.press("Backspace")
    expect(maps).not_to_have_attribute("aria-label", way_back, timeout=READY)


def test_the_control_moves_the_peaks(server: str, page: Page) -> None:
    page.goto(f"{server}/decay?v=1&chosen=rope&text=random&length=256&texts=2", timeout=READY)
    page.get_by_role("button", name="Measure under PI and NTK").click(timeout=READY)
    expect(title(page, "RoPE, PI s = 4 · R²")).to_be_visible(timeout=READY)
    expect(page.get_by_text("had peaks stayed").first).to_be_visible()
