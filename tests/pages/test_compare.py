"""Compare without a browser: the first view, controls, and bad input."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def test_first_view_compares_alibi_with_rope() -> None:
    app = opened()
    assert not app.exception
    assert not app.error
    words = " ".join(m.value for m in app.markdown)
    assert "ALiBi**, layer" in words
    assert "RoPE**, layer" in words
    assert app.query_params["a"] == "alibi.2.5"
    assert app.query_params["b"] == "rope.2.1"
    assert len(app.get("plotly_chart")) == 2
    assert any("colour scale" in c.value for c in app.caption)


def test_another_head_goes_into_the_address() -> None:
    app = opened(length="128", texts="2")
    app.selectbox(key="head0").set_value(7).run()
    assert not app.exception
    assert app.query_params["a"] == "alibi.2.8"
    assert app.query_params["length"] == "128"
    assert "halves every 177.4 tokens" in " ".join(m.value for m in app.markdown)


def test_an_address_reopens_its_state() -> None:
    app = opened(v="1", a="rope.4.1", b="alibi.1.8", c="rope.1.1", length="100", view="one")
    assert not app.exception
    assert [app.selectbox(key=f"checkpoint{i}").value for i in range(3)] == [
        "rope",
        "alibi",
        "rope",
    ]
    assert app.select_slider(key="length").value == 100
    assert app.selectbox(key="view").value == "one"
    assert [app.selectbox(key=f"layer{i}").value for i in range(3)] == [3, 0, 0]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"length": "1"}, "Expected"),
        ({"length": "9000000"}, "choose at most"),
        ({"text": "no-such-text"}, "no-such-text"),
        ({"text": "pasted", "paste": ""}, "text"),
    ],
)
def test_bad_input_gets_one_sentence(query: dict[str, str], words: str) -> None:
    app = opened(**query)
    assert not app.exception
    assert len(app.error) == 1
    assert words in app.error[0].value
    assert "\n" not in app.error[0].value


def test_unknown_checkpoint_in_the_address_is_said() -> None:
    app = opened(a="gone.1.1", length="64", texts="2")
    assert not app.exception
    assert "gone" in app.warning[0].value


def test_a_length_beyond_memory_offers_one_that_fits() -> None:
    app = opened(length="9000000")
    assert app.button[0].label.startswith("Use ")


def test_a_short_text_is_used_whole_and_said() -> None:
    app = opened(text="pasted", paste="A short text of a few words. " * 5, length="256")
    assert not app.exception
    assert not app.error
    assert "all of it is used" in app.info[0].value
