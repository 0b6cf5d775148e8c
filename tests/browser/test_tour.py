"""The tour in a real browser: walked by keys in one session, and opened by an address alone."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visits import READY

pytestmark = pytest.mark.browser
STOPS = (
    r"/(compare)?\?v=1&a=alibi\.3\.3&b=alibi\.3\.4&.*marks=1&tour=1$",
    r"/(compare)?\?v=1&a=rope\.2\.4&.*za=64-127\.0-63&tour=2$",
    r"/(compare)?\?v=1&a=t5\.3\.3&.*x_log=1&marks=1&tour=3$",
    r"/extrapolation\?v=1&measure=difference&tour=4$",
    r"/extrapolation\?v=1&measure=difference&settings=none~ntk-fit&tour=5$",
)


@pytest.fixture(autouse=True)
def patience(page: Page) -> None:
    """Every wait of these tests may take as long as a busy machine needs."""
    page.set_default_timeout(READY)
    expect.set_options(timeout=READY)


def press(page: Page, name: str) -> None:
    """Presses a button with the keyboard alone."""
    page.get_by_role("button", name=name).focus()
    page.keyboard.press("Enter")


def test_the_tour_is_walked_by_keys_in_one_session(server: str, page: Page) -> None:
    page.goto(f"{server}/?length=64&texts=2")
    press(page, "Take the tour")
    for number, address in enumerate(STOPS, 1):
        expect(page.get_by_text(f"step {number} of 5")).to_be_visible()
        expect(page).to_have_url(re.compile(address))
        if number == 1:
            expect(page.locator("canvas.map")).to_have_count(4)
        elif number < 4:
            expect(page.locator("canvas.map")).to_have_count(1)
        if number < len(STOPS):
            press(page, "Next")
    press(page, "Previous")
    expect(page).to_have_url(re.compile(STOPS[3]))
    press(page, "End the tour")
    expect(page).to_have_url(re.compile(r"measure=difference$"))
    expect(page.get_by_text(" of 5")).to_have_count(0)


def test_a_stop_opens_by_its_number_alone(server: str, page: Page) -> None:
    page.goto(f"{server}/?tour=5")
    expect(page.get_by_text("step 5 of 5")).to_be_visible()
    expect(page).to_have_url(re.compile(STOPS[4]))


def test_a_stop_opens_by_its_address_alone_in_chinese_too(server: str, page: Page) -> None:
    page.goto(f"{server}/?v=1&a=t5.3.3&length=512&x_log=1&marks=1&tour=3")
    expect(page.get_by_text("step 3 of 5")).to_be_visible()
    expect(page.get_by_text("Stairs: its law has levels")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.get_by_role("radio", name="中文").click()
    expect(page.get_by_text("第 3 步，共 5 步")).to_be_visible()
    expect(page).to_have_url(re.compile(r"a=t5\.3\.3.*lang=zh&tour=3$"))
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")


def test_terms_are_reached_by_keys_on_a_narrow_page(server: str, page: Page) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    page.goto(f"{server}/encodings")
    press(page, "Terms")
    expect(page.get_by_text("Row-centred", exact=True)).to_be_visible()
    across = page.evaluate("document.documentElement.scrollWidth")
    assert across <= 380
    page.keyboard.press("Escape")
    expect(page.get_by_text("Row-centred", exact=True)).to_have_count(0)
