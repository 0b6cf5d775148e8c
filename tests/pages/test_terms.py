"""The terms: one sentence each, and on hover on every page on which they stand."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages._shared import terms
from tests.pages import spoken
from tests.visiting import visit
from viz_core.words import speaking

ROOT = Path(__file__).parents[2]
PAGES = sorted(p.parent.name for p in (ROOT / "pages").glob("[!_]*/page.py"))
ASKED = re.compile(r"terms\.(?:of|below)\(([^)]*)\)")
ANOTHER = {  # where a word stands for something else
    "window": {"checkpoints", "decay", "extrapolation"},  # held-out, Hann's, sliding
    "reach": {"attribution", "extrapolation"},  # where attention is cut; "out of reach"
}


@pytest.mark.parametrize("name", terms.TERMS)
def test_a_term_is_one_sentence(name: str) -> None:
    meaning = terms.TERMS[name].meaning
    assert meaning.endswith(".")
    assert not re.search(r"[.!?] [A-Z]", meaning)


@pytest.mark.parametrize("name", terms.TERMS)
def test_a_term_is_said_in_chinese_too(name: str) -> None:
    english = terms.of(name)
    with speaking("zh"):
        chinese = terms.of(name)
    assert re.search("[一-鿿]", chinese)
    assert chinese != english


def test_the_list_stands_on_every_page() -> None:
    app = opened("encodings")
    assert terms.of(*terms.TERMS) in [m.value for m in app.markdown]


def test_pages_ask_for_each_term_and_for_no_other() -> None:
    asked = {
        name
        for path in (ROOT / "pages").rglob("*.py")
        for call in ASKED.findall(path.read_text(encoding="utf-8"))
        for name in re.findall(r'"([^"]+)"', call)
    }
    assert asked == set(terms.TERMS)


@pytest.mark.parametrize("page", PAGES)
def test_what_stands_on_a_page_is_explained_on_hover(page: str) -> None:
    app = opened(page)
    hover = list(helps(app))
    said = [text for text in words(app) if text not in hover]
    known = {n for n, term in terms.TERMS.items() if any(term.meaning in text for text in hover)}
    standing = {n for n in terms.TERMS if any(stands(n, text) for text in said)}
    another = {n for n, others in ANOTHER.items() if page in others}
    assert standing
    assert standing - another <= known


@pytest.mark.parametrize(
    ("name", "text", "there"),
    [
        ("head", "Heads by kind", True),
        ("head", "a forehead", False),
        ("p", "bold: p ≤ 0.05", True),
        ("nat", "`nat` and $nat$", False),
        ("log-attention", "log-attention falls", True),
    ],
)
def test_a_term_stands_in_whole_words_and_not_in_code(name: str, text: str, there: bool) -> None:
    assert stands(name, text) is there


def opened(page: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages" / "_router.py"), default_timeout=300).run()
    visit(app, page).run()
    assert not app.exception
    return app


def stands(name: str, text: str) -> bool:
    """Whether the term stands in `text`, be there one of it or several."""
    bare = re.sub(spoken.UNREAD, " ", text, flags=re.DOTALL)
    return bool(re.search(rf"\b{re.escape(name)}s?\b", bare, re.IGNORECASE))


def words(app: AppTest) -> list[str]:
    """What is read on the page, but for the list of terms and the heads of tables of numbers."""
    return [text for text in spoken.read(app, tables=False) if text != terms.of(*terms.TERMS)]


def helps(app: AppTest) -> Iterator[str]:
    """What is said on hover."""
    for element in spoken.elements(app.main):
        yield from _helps(element.proto)


def _helps(message: Any) -> Iterator[str]:
    for field, value in message.ListFields():
        if field.name == "help" and isinstance(value, str):
            yield value
        elif field.message_type is not None:
            several = [value] if hasattr(value, "ListFields") else value
            for one in several:
                if hasattr(one, "ListFields"):
                    yield from _helps(one)
