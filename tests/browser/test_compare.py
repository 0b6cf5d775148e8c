"""The main journey in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visits import READY

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def patience(page: Page) -> None:
    """Every wait of these tests may take as long as a busy machine needs."""
    page.set_default_timeout(READY)
    expect.set_options(timeout=READY)


def maps(page: Page):
    return page.locator("canvas.map")


def test_fresh_servers_first_request_is_a_deep_link(fresh_server: str, page: Page) -> None:
    page.goto(f"{fresh_server}/compare?v=1&a=rope.3.1&b=alibi.1.8&length=128&texts=2")
    expect(maps(page)).to_have_count(2)
    # the router ran: it alone sets the title of the window
    expect(page).to_have_title("Attention Atlas")
    expect(page.get_by_text("RoPE · layer 3, head 1").first).to_be_visible()


def test_two_maps_curves_and_a_readout(server: str, page: Page) -> None:
    page.goto(server)
    expect(maps(page)).to_have_count(2)
    expect(page.locator(".js-plotly-plot .scatterlayer path").first).to_be_attached()
    first = maps(page).first
    first.scroll_into_view_if_needed()
    box = first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.7)
    for readout in page.locator("p.readout").all():  # the crosshair is shared
        expect(readout).to_contain_text(re.compile(r"query .* key .* distance .* A = .* log"))


def test_another_head_is_chosen_on_the_wall_and_the_address_reopens_it(
    server: str, page: Page, context
) -> None:
    page.goto(f"{server}/?length=128&texts=2")
    expect(maps(page)).to_have_count(2)
    page.get_by_role("button", name="RoPE, layer 4, head 2").click()
    expect(page.get_by_text("RoPE · layer 4, head 2").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"b=rope\.4\.2"))
    again = context.new_page()
    again.goto(page.url)
    expect(again.get_by_text("RoPE · layer 4, head 2").first).to_be_visible()
    expect(again.get_by_role("button", name="RoPE, layer 4, head 2")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_a_sorted_wall_is_walked_and_picked_by_keys(server: str, page: Page) -> None:
    page.goto(f"{server}/?length=128&texts=2&sort=reach&a=rope.1.1&b=alibi.1.8")
    expect(maps(page)).to_have_count(2)
    wall = page.get_by_role("group", name="All heads of ALiBi")
    values = [
        float(t)
        for t in wall.locator(".label").evaluate_all(
            "labels => labels.map((label) => label.lastChild.textContent.replace(',', ''))"
        )
    ]
    assert len(values) == 32
    assert values == sorted(values, reverse=True)
    expect(wall.get_by_role("button").first).to_have_attribute(
        "aria-label", re.compile(r"90 % of the mass within \d+ tokens")
    )
    wall.locator("[aria-pressed=true]").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    goal = page.evaluate("document.activeElement.shadowRoot?.activeElement.ariaLabel") or (
        page.evaluate("document.activeElement.ariaLabel")
    )
    layer, head = re.search(r"layer (\d), head (\d)", goal).groups()
    assert (layer, head) != ("1", "8")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"b=alibi\.{layer}\.{head}&"))
    expect(page).to_have_url(re.compile(r"sort=reach"))
    expect(wall.get_by_role("button", name=goal)).to_be_focused()  # the keyboard's place is kept


def test_tokens_label_a_short_map_and_keys_move_the_crosshair(server: str, page: Page) -> None:
    page.goto(f"{server}/?view=one&text=pasted&paste=The+cat+sat+on+the+mat.&length=64")
    expect(maps(page)).to_have_count(2)
    maps(page).first.focus()
    page.keyboard.press("ArrowRight")
    readout = page.locator("p.readout").first
    expect(readout).to_contain_text("key 1")
    page.keyboard.press("ArrowLeft")
    expect(readout).to_contain_text("key 0")
    expect(readout).to_contain_text("A = ")


def test_no_script_of_a_text_runs(server: str, page: Page) -> None:
    page.on("dialog", lambda dialog: pytest.fail("a pasted text ran as a script"))
    page.goto(
        f"{server}/?view=one&text=pasted&paste=<img+src=x+onerror=alert(1)>+and+more&length=64"
    )
    expect(maps(page)).to_have_count(2)
    maps(page).first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("p.readout").first).to_contain_text("A = ")


def test_cancel_gives_back_what_was_shown(server: str, page: Page) -> None:
    page.goto(f"{server}/?length=128&texts=32")
    expect(maps(page)).to_have_count(2)
    slider = page.get_by_role("slider", name="Length")
    slider.focus()
    for _ in range(8):  # 32,768 tokens of 32 texts: nobody waits for that
        page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("length=32768"))  # the last press arrived
    computing = page.get_by_text(re.compile(r"Computing ALiBi .*%, about .* left"))
    expect(computing).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled: this is what was shown before.")).to_be_visible()
    expect(page).to_have_url(re.compile("length=128"))
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.locator(".where").first).to_have_text("all 128 tokens, single tokens")
