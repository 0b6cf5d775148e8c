"""The terms: of every page, one sentence each, and none that is asked for and missing."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages._kit import terms
from viz_core.words import speaking

ROOT = Path(__file__).parents[2]
ASKED = re.compile(r"terms\.of\(([^)]*)\)")


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
    app = AppTest.from_file(str(ROOT / "pages" / "_router.py"), default_timeout=300).run()
    app.switch_page("encodings.py").run()
    assert not app.exception
    assert terms.of(*terms.TERMS) in [m.value for m in app.markdown]


def test_pages_ask_for_terms_that_there_are() -> None:
    asked = {
        name
        for path in (ROOT / "pages").rglob("*.py")
        for call in ASKED.findall(path.read_text(encoding="utf-8"))
        for name in re.findall(r'"([^"]+)"', call)
    }
    assert asked
    assert asked <= set(terms.TERMS)
