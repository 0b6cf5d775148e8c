"""Attribution in a real browser."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.visits import READY

pytestmark = pytest.mark.browser
TOKEN = "[aria-label='The text, token by token'] .token"  # code on the page has tokens too
SHORT = "v=1&length=64&steps=10"


@pytest.fixture(autouse=True)
def patience(page: Page) -> None:
    """Every wait of these tests may take as long as a busy machine needs."""
    page.set_default_timeout(READY)
    expect.set_options(timeout=READY)


def title(page: Page, text: str) -> Locator:
    return page.locator(".js-plotly-plot .gtitle", has_text=text).first


def opened(page: Page, server: str, query: str = SHORT) -> Locator:
    """The tokens of the text, once all of the page is there: a redraw would undo a hover."""
    page.goto(f"{server}/attribution?{query}")
    tokens = page.locator(TOKEN)
    expect(tokens.first).to_be_visible()
    expect(title(page, "Loss against reach · far")).to_be_visible()
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    return tokens


def test_text_maps_profiles_heads_and_reach_stand_on_one_page(server: str, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    tokens = opened(page, server, "")
    expect(tokens).to_have_count(128)
    expect(page.locator("canvas.map")).to_have_count(2)
    expect(title(page, "Up to a distance")).to_be_visible()
    expect(title(page, "Loss against reach · far")).to_be_visible()
    expect(page.locator(".heads table")).to_have_count(6)
    assert asked
    assert all(url.startswith((server, "data:", "blob:")) for url in asked)


def test_a_token_says_its_number_and_a_click_explains_it(server: str, page: Page, context) -> None:
    tokens = opened(page, server)
    expect(page.locator(f"{TOKEN}.asked")).to_have_attribute("aria-label", re.compile(r"^62 "))
    tokens.nth(20).hover()
    readout = page.locator("p.readout", has_text=re.compile(r"^20 .*distance 42: .*nats"))
    expect(readout).to_be_visible()
    tokens.nth(30).click()
    expect(page).to_have_url(re.compile(r"last=29"))
    expect(page.locator(f"{TOKEN}.asked")).to_have_attribute("aria-label", re.compile(r"^29 "))
    expect(page.get_by_text("after query 29,").first).to_be_visible()
    again = context.new_page()
    again.goto(page.url)
    expect(again.locator(f"{TOKEN}.asked")).to_have_attribute("aria-label", re.compile(r"^29 "))


def test_keys_walk_through_the_text(server: str, page: Page) -> None:
    opened(page, server)
    page.locator(f"{TOKEN}.asked").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("p.readout", has_text=re.compile(r"^61 .*distance 1:"))).to_be_visible()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"last=1\b"))


def test_both_maps_have_one_crosshair_and_one_window(server: str, page: Page) -> None:
    opened(page, server)
    maps = page.locator("canvas.map")
    expect(maps).to_have_count(2)
    maps.nth(1).focus()
    page.keyboard.press("ArrowUp")
    readouts = page.locator("figure.panel p.readout")
    expect(readouts.nth(0)).to_contain_text("A = ")
    expect(readouts.nth(1)).to_contain_text(re.compile(r"attribution -?[\d.e-]+ nats"))
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("z")
    for i in (0, 1):
        expect(page.locator(".where").nth(i)).to_contain_text("queries")
    maps.nth(0).focus()
    page.keyboard.press("Backspace")
    expect(page.locator(".where").nth(1)).to_contain_text("all 63 tokens")


def test_a_long_computation_shows_how_far_it_is_and_can_be_ended(server: str, page: Page) -> None:
    page.goto(f"{server}/attribution?v=1&length=1024&method=feature-ablation")
    page.get_by_role("button", name="Compute").click()
    expect(page.get_by_text("Computing attributions of tokens")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. Press Compute to start again.")).to_be_visible()
    expect(title(page, "Loss against reach · far")).to_be_visible()


def test_nothing_is_wider_than_a_phone(server: str, page: Page) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    opened(page, server)
    maps = page.locator("canvas.map")
    expect(maps).to_have_count(2)
    first, second = (maps.nth(i).bounding_box() for i in (0, 1))
    assert second["y"] >= first["y"] + first["height"]
    for box in (first, second, page.locator(".spoken .text").bounding_box()):
        assert box["x"] + box["width"] <= 420
