"""Encodings in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visits import READY

pytestmark = pytest.mark.browser


def title(page: Page, text: str):
    return page.locator(".js-plotly-plot .gtitle", has_text=text).first


def test_fresh_servers_first_request_is_a_deep_link(fresh_server: str, page: Page) -> None:
    page.goto(f"{fresh_server}/encodings?v=1&a=t5~buckets-16&b=sinusoidal", timeout=READY)
    expect(title(page, "Buckets by distance")).to_be_visible(timeout=READY)
    expect(title(page, "Position vectors")).to_be_visible()
    expect(page.locator("canvas.map")).to_have_count(2)
    expect(page).to_have_title("Attention Atlas")


def test_another_encoding_is_another_map_and_address(server: str, page: Page) -> None:
    page.goto(f"{server}/encodings?v=1&a=alibi", timeout=READY)
    expect(page.locator("canvas.map")).to_have_count(1, timeout=READY)
    page.get_by_role("combobox", name="Encoding").click()
    page.get_by_role("option", name="NoPE").click()
    expect(title(page, "NoPE · every head")).to_be_visible(timeout=READY)
    expect(page).to_have_url(re.compile(r"a=nope"))


def test_a_slider_moves_by_keys_and_the_address_follows(server: str, page: Page) -> None:
    page.goto(f"{server}/encodings?v=1&a=rope~scaling-yarn~factor-4", timeout=READY)
    expect(title(page, "RoPE, YaRN s = 4")).to_be_visible(timeout=READY)
    page.get_by_role("slider", name="Factor s").press("ArrowRight")
    expect(title(page, "RoPE, YaRN s = 6")).to_be_visible(timeout=READY)
    expect(page).to_have_url(re.compile(r"factor-6"))


def test_keys_zoom_into_both_maps_and_back(server: str, page: Page) -> None:
    page.goto(f"{server}/encodings", timeout=READY)
    canvas = page.locator("canvas.map").first
    canvas.focus(timeout=READY)
    canvas.press("ArrowUp")
    canvas.press("z")
    expect(page.get_by_role("button", name="Whole map")).to_be_visible(timeout=READY)
    expect(page).to_have_url(re.compile(r"z=768-1023\.0-255"))
    here = ["queries 768–1,023, keys 0–255, single tokens"] * 2
    expect(page.locator("figure .where")).to_have_text(here, timeout=READY)
    page.get_by_role("button", name="Whole map").click()
    expect(page).not_to_have_url(re.compile(r"z="), timeout=READY)


def test_a_narrow_page_scrolls_one_way_only(server: str, page: Page) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{server}/encodings", timeout=READY)
    expect(title(page, "Wavelengths by pair")).to_be_visible(timeout=READY)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_nothing_is_fetched_from_elsewhere(server: str, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server}/encodings", timeout=READY)
    expect(title(page, "Wavelengths by pair")).to_be_visible(timeout=READY)
    assert asked
    assert all(url.startswith((server, "data:", "blob:")) for url in asked)
