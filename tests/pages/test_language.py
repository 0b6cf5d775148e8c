"""The language: chosen in place, kept in the address, and nothing else changes with it."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.spoken import chinese, english, read
from viz_core import words

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")
SHORT = {"length": "128", "texts": "2", "a": "rope.1.1"}


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def choose(app: AppTest, language: str) -> AppTest:
    switch = next(g for g in app.get("button_group") if g.key == "language")
    return switch.set_value(language).run()


def said(app: AppTest) -> str:
    return " ".join(m.value for m in (*app.markdown, *app.caption))


def test_an_address_in_chinese_speaks_chinese_and_keeps_its_language() -> None:
    app = opened(lang="zh", **SHORT)
    assert not app.exception
    assert "对数注意力" in said(app)
    assert app.query_params["lang"] == "zh"
    assert app.query_params["a"] == "rope.1.1"


@pytest.mark.parametrize(
    "query",
    [
        {"marks": "1", "a": "alibi.2.5", "b": "rope.2.1", "c": "t5.3.3", "d": "nope.1.1"},
        {"marks": "1", "view": "one", "pooling": "max", "sort": "reach", "za": "64-127.0-63"},
        {"view": "centred", "linked": "0", "zb": "64-127.0-63", "sort": "entropy", "tour": "1"},
        {"text": "pasted", "paste": "A short text of a few words. " * 3, "length": "256"},
    ],
)
def test_compare_is_in_one_language(query: dict[str, str]) -> None:
    asked = {"length": "128", "texts": "2", **query}
    app = opened(lang="zh", **asked)
    assert not app.exception
    assert not english(read(app), ["Attention Atlas"])
    app = opened(**asked)
    assert not chinese(read(app))


def test_changing_the_language_changes_no_other_choice() -> None:
    app = opened(**SHORT)
    app.selectbox(key="head0").set_value(5).run()
    app.selectbox(key="view").set_value("centred").run()
    app.toggle(key="marks").set_value(True).run()
    before = {n: app.query_params[n] for n in app.query_params}
    choose(app, "zh")
    assert not app.exception
    after = {n: app.query_params[n] for n in app.query_params}
    assert after == before | {"lang": "zh"}
    with words.speaking(
        "zh"
    ):  # the test finds options by what they were called when they were shown
        choose(app, "en")
    assert {n: app.query_params[n] for n in app.query_params} == before


def test_errors_and_warnings_are_said_in_the_language_of_the_page() -> None:
    app = opened(lang="zh", length="1", a="gone.1.1")
    assert not app.exception
    assert "检查点应为" in app.warning[0].value
    assert any("一" <= c <= "鿿" for c in app.error[0].value)


def test_an_unknown_language_is_english() -> None:
    app = opened(lang="xx", **SHORT)
    assert not app.exception
    assert "lang" not in app.query_params
    assert "log-attention" in said(app)
