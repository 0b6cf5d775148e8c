"""Extrapolation in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visits import READY

pytestmark = pytest.mark.browser


def title(page: Page, text: str):
    return page.locator(".js-plotly-plot .gtitle", has_text=text).first


def test_fresh_servers_first_request_is_a_deep_link(fresh_server: str, page: Page) -> None:
    page.goto(f"{fresh_server}/extrapolation?v=1&report=article-a-512-not-stated", timeout=READY)
    expect(title(page, "Reported · protocol not stated")).to_be_visible(timeout=READY)
    expect(page).to_have_title("Attention Atlas")
    expect(page.get_by_text("Unverified.").first).to_be_visible()


def test_the_menu_leads_to_each_page_and_back_to_its_state(server: str, page: Page) -> None:
    page.goto(f"{server}/extrapolation?v=1&upto=2048", timeout=READY)
    expect(title(page, "Validation loss")).to_be_visible(timeout=READY)
    menu = page.get_by_test_id("stTopNavLinkContainer")
    menu.filter(has_text="Compare").get_by_role("link").click()
    expect(page.locator("canvas.map")).to_have_count(2, timeout=READY)
    menu.filter(has_text="Extrapolation").get_by_role("link").click()
    expect(title(page, "Validation loss")).to_be_visible(timeout=READY)
    expect(page).to_have_url(re.compile(r"upto=2048"))


def test_a_measurement_of_one_s_own(server: str, page: Page) -> None:
    page.goto(
        f"{server}/extrapolation?v=1&upto=1024&live=alibi&setting=exponent-6&on=python-docs",
        timeout=READY,
    )
    page.get_by_role("button", name="Compute").click(timeout=READY)
    expect(title(page, "ALiBi, exponent 6 · fixed targets")).to_be_visible(timeout=READY)


def test_nothing_is_fetched_from_elsewhere(server: str, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server}/extrapolation", timeout=READY)
    expect(title(page, "Validation loss")).to_be_visible(timeout=READY)
    assert asked
    assert all(url.startswith((server, "data:", "blob:")) for url in asked)


def test_another_protocol_is_another_chart_and_address(server: str, page: Page) -> None:
    page.goto(f"{server}/extrapolation", timeout=READY)
    expect(title(page, "As trained · fixed targets")).to_be_visible(timeout=READY)
    page.get_by_role("radio", name="Sliding window").click()
    expect(title(page, "As trained · sliding window")).to_be_visible(timeout=READY)
    expect(page).to_have_url(re.compile(r"protocol=sliding-window"))
