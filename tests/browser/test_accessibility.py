"""Whether everybody can use the pages: by axe-core, by keyboard, without motion, without pictures.

axe-core judges what it can see: names, roles, contrast, what the keyboard reaches. No page and no
rule is left out.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.visits import PAGES, READY, THEMES, Visits, settle

pytestmark = pytest.mark.browser
STOPS = 80  # of the Tab key, at most
FEWEST = 6  # letters of what a figure says: Chinese needs few
# What one page has, by role or by element; a map is an "img" with keys of its own.
KINDS = ("a", "button", "combobox", "slider", "spinbutton", "switch", "radio", "img", "summary")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_keeps_anyone_out(visits: Visits, name: str, theme: str) -> None:
    found = visits.to(name, theme).findings
    assert not found, "\n".join(f"{f.rule}: {f.where} {f.html[:200]} {f.says}" for f in found)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_page(visits: Visits, name: str, theme: str) -> None:
    assert visits.to(name, theme).overhang <= 0


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_says_in_words_what_it_shows(visits: Visits, name: str) -> None:
    bare = [words for words in visits.to(name, THEMES[0]).figures if len(words) < FEWEST]
    assert not bare


@pytest.mark.parametrize("name", PAGES)
def test_nothing_moves_for_those_who_asked_for_stillness(visits: Visits, name: str) -> None:
    assert not visits.to(name, THEMES[0]).moving


def test_the_keyboard_reaches_every_kind_of_control_and_shows_where_it_is(
    browser: Browser, server: str
) -> None:
    context = browser.new_context(reduced_motion="reduce", locale="en-US")
    page = context.new_page()
    page.set_default_timeout(READY)
    page.goto(f"{server}/encodings")
    settle(page)
    reached, unseen = set[str](), list[str]()
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        kind, name, seen = page.evaluate(FOCUS)
        if kind == "page":  # past the last one, on the way round
            break
        reached.add(kind)
        if not seen:
            unseen.append(f"{kind} {name}")
    context.close()
    assert not unseen
    assert not set(KINDS) - reached


# [kind, name, whether its looks, or those of what it lies in, tell that it has the focus]
FOCUS = """async () => {
  let at = document.activeElement;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (at === document.body) return ["page", "", true];
  const looks = () => {
    const found = [];
    for (let e = at, i = 0; e && i < 5; e = e.parentElement, i++) {
      const s = getComputedStyle(e);
      found.push(s.outlineStyle, s.outlineWidth, s.boxShadow, s.borderColor, s.backgroundColor);
      found.push(getComputedStyle(e, "::before").boxShadow, s.color);
    }
    return found.join();
  };
  // Streamlit draws what has the focus a moment after it has it
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  let held = "";
  while (held !== looks()) {
    held = looks();
    await pause(100);
  }
  at.blur();
  let left = looks();
  for (let i = 0; i < 40 && left === held; i++) {
    await pause(25);
    left = looks();
  }
  at.focus({ focusVisible: true });
  const kind = at.getAttribute("role") ?? (at.type === "radio" ? "radio" : at.localName);
  const own = { range: "slider", number: "spinbutton" }[at.type] ?? kind;
  return [own, at.getAttribute("aria-label") ?? at.textContent.slice(0, 40), held !== left];
}"""
