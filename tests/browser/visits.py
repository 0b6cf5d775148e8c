"""Every page visited once in either theme: what axe-core finds wrong there, and all its words.

Two kinds of tests look at the same visits, so that each page is opened no more often than that.
Whichever width and language a visit has, over the pages all of them come together.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

PAGES = sorted(
    file.parent.name for file in (Path(__file__).parents[2] / "pages").glob("[!_]*/page.py")
)  # a new one is visited the moment it exists
HOME = "compare"  # has no name in the address
THEMES = ("light", "dark")
WIDTHS = (1280, 420)  # pixels
CHINESE = "zh"
# Milliseconds until a page that does nothing is given up: events decide, and nothing here asserts
# a time. On a machine that others keep busy, 4,096 tokens alone may take minutes.
READY = 600_000
GRAVE = ("serious", "critical")
SCRIPTS = Path(__file__).parent / "scripts"
FIGURES = "[data-testid=stPlotlyChart], canvas.map, [data-testid=stImage] img"
NAMES = "figures => figures.map((f) => f.getAttribute('aria-label') ?? f.alt ?? '')"


@dataclass(frozen=True)
class Finding:
    """One thing that axe-core finds wrong: its rule, where, and what it says of it."""

    rule: str
    where: str
    html: str
    says: str


@dataclass(frozen=True)
class Word:
    """Something that is read, seen or heard: `of` says whose it is."""

    text: str
    of: str


@dataclass(frozen=True)
class Visit:
    """One page as it was found."""

    findings: tuple[Finding, ...]
    words: tuple[Word, ...]
    overhang: int  # pixels by which something is wider than the page
    figures: tuple[str, ...]  # what screen readers are told of each chart, map and picture
    moving: tuple[str, ...]  # what moves for longer than a blink, though stillness was asked for


class Visits:
    """Opens pages of the app at `server`, each once for a theme, and remembers what was there."""

    def __init__(self, browser: Browser, server: str) -> None:
        self._browser, self._server = browser, server
        self._made: dict[tuple[str, str], Visit] = {}

    def to(self, name: str, theme: str) -> Visit:
        """The page `name` in `theme`; its words are Chinese in `in_chinese(name)` alone."""
        if (name, theme) not in self._made:
            self._made[name, theme] = self._make(name, theme)
        return self._made[name, theme]

    def in_chinese(self, name: str) -> Visit:
        """The one visit at which the page spoke Chinese."""
        return self.to(name, next(t for t in THEMES if language(name, t) == CHINESE))

    def _make(self, name: str, theme: str) -> Visit:
        # a higher window than any screen: what lies below its edge is not judged
        size = {"width": width(name, theme), "height": 1600}
        context = self._browser.new_context(
            viewport=size, color_scheme=theme, locale="en-US", reduced_motion="reduce"
        )
        try:
            context.add_init_script(path=SCRIPTS / "canvas_words.js")
            page = context.new_page()
            page.set_default_timeout(READY)
            path = "" if name == HOME else name
            page.goto(f"{self._server}/{path}?lang={language(name, theme)}")
            settle(page)
            unfold(page)
            main = page.get_by_test_id("stMain")
            page.set_viewport_size(
                size | {"height": main.evaluate("e => e.scrollHeight") + size["height"] // 4}
            )
            settle(page)
            return Visit(
                findings(page),
                words(page),
                main.evaluate("e => e.scrollWidth - e.clientWidth"),
                tuple(page.locator(FIGURES).evaluate_all(NAMES)),
                tuple(page.evaluate((SCRIPTS / "moving.js").read_text(encoding="utf-8"))),
            )
        finally:
            context.close()


def width(name: str, theme: str) -> int:
    """Wide and narrow by turns, so that each page is seen both ways."""
    return WIDTHS[(PAGES.index(name) + THEMES.index(theme)) % 2]


def language(name: str, theme: str) -> str:
    """Each page speaks English in one theme and Chinese in the other."""
    return ("en", CHINESE)[(PAGES.index(name) // 2 + THEMES.index(theme)) % 2]


def settle(page: Page) -> None:
    """Returns once the page's script has run to its end and all that it draws is there."""
    page.wait_for_function((SCRIPTS / "settled.js").read_text(encoding="utf-8"))


def unfold(page: Page) -> None:
    """Opens all that is folded up."""
    page.locator("details:not([open]) > summary").evaluate_all(
        "summaries => summaries.forEach((summary) => summary.click())"
    )
    settle(page)


def findings(page: Page) -> tuple[Finding, ...]:
    """What axe-core finds on the page, as far as it keeps someone out."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return tuple(
        _finding(rule["id"], node)
        for rule in found
        for node in rule["nodes"]
        if node["impact"] in GRAVE
    )


def _finding(rule: str, node: dict[str, Any]) -> Finding:
    said = [check["message"] for kind in ("any", "all", "none") for check in node[kind]]
    return Finding(rule, str(node["target"]), node["html"], "; ".join(said))


def words(page: Page) -> tuple[Word, ...]:
    """All that is read on the page: its texts, those on its canvases, names for screen readers."""
    read = (SCRIPTS / "page_words.js").read_text(encoding="utf-8")
    return tuple(Word(text.strip(), of) for text, of in page.evaluate(read) if text.strip())
