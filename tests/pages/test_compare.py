"""Compare without a browser: the first view, controls, and bad input."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages._shared import measuring, waiting
from pages.compare import zoom_controls

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
    assert [b for b in app.button if b.label.startswith("Use ")]


def test_a_short_text_is_used_whole_and_said() -> None:
    app = opened(text="pasted", paste="A short text of a few words. " * 5, length="256")
    assert not app.exception
    assert not app.error
    assert "all of it is used" in app.info[0].value


def crumbs(app: AppTest, i: int = 0) -> list[str]:
    return [b.label for b in app.button if b.key and b.key.startswith(f"crumb{i}_")]


def typed(app: AppTest, *ends: int) -> AppTest:
    """Types the first and last query and key, and asks for them."""
    for name, end in zip(zoom_controls.ENDS, ends, strict=True):
        app.number_input(key=name).set_value(end)
    return next(b for b in app.button if b.label == "Show").click().run()


SHORT = {"length": "128", "texts": "2"}


def test_typed_ranges_zoom_all_maps_and_breadcrumbs_lead_back() -> None:
    app = opened(**SHORT)
    assert not crumbs(app)
    typed(app, 64, 127, 0, 63)
    assert app.query_params["za"] == "64-127.0-63"
    typed(app, 100, 120, 10, 20)
    assert not app.exception
    assert crumbs(app) == ["Whole map ›", "queries 64–127, keys 0–63 ›"]
    assert "queries 100–120, keys 10–20, in single tokens" in " ".join(c.value for c in app.caption)
    app.button(key="crumb0_1").click().run()
    assert app.query_params["za"] == "64-127.0-63"
    app.button(key="crumb0_0").click().run()
    assert "za" not in app.query_params
    assert not crumbs(app)


@pytest.mark.parametrize(
    ("ends", "words"),
    [((0, 128, 0, 10), "from 0 to 127"), ((0, 10, 50, 60), "some key not after some query")],
)
def test_ranges_that_cannot_be_shown_get_one_sentence(ends: tuple[int, ...], words: str) -> None:
    app = typed(opened(**SHORT), *ends)
    assert [words in e.value for e in app.error] == [True]
    assert "za" not in app.query_params
    assert app.number_input(key="last_query").value == ends[1]  # to be mended, not typed anew
    typed(app, 5, 9, 0, 9)
    assert not app.error


def test_maps_that_are_not_linked_have_a_window_and_a_trail_each() -> None:
    app = opened(**SHORT, linked="0", za="64-127.0-63", zb="10-20.0-9", a="rope.1.1", b="rope.1.2")
    assert not app.exception
    assert crumbs(app, 0) == crumbs(app, 1) == ["Whole map ›"]
    app.button(key="crumb0_0").click().run()
    assert "za" not in app.query_params
    assert app.query_params["zb"] == "10-20.0-9"
    app.toggle(key="linked").set_value(True).run()  # both look where the last move was
    assert "za" not in app.query_params
    assert "zb" not in app.query_params
    assert not crumbs(app)


def test_a_window_past_the_end_of_a_shorter_text_is_cut_and_said() -> None:
    app = opened(**SHORT, za="100-127.0-99")
    app.select_slider(key="length").set_value(64).run()
    assert not app.exception
    assert "the whole map is shown" in app.info[0].value
    assert "za" not in app.query_params


def test_cells_show_their_largest_pair_in_one_text_alone() -> None:
    app = opened(view="one", length="1024", a="rope.1.1", pooling="max", za="0-599.0-599")
    assert not app.exception
    words = " ".join(c.value for c in app.caption)
    assert "in cells of 2 × 2 tokens, each the largest of its pairs" in words
    pooling = next(g for g in app.get("button_group") if g.key == "pooling")
    assert not pooling.disabled
    app.selectbox(key="view").set_value("mean").run()
    assert not app.exception
    assert "each the mean of its pairs" in " ".join(c.value for c in app.caption)
    pooling = next(g for g in app.get("button_group") if g.key == "pooling")
    assert pooling.disabled
    assert app.query_params["pooling"] == "max"  # for the way back


def test_the_order_of_the_wall_is_part_of_the_address() -> None:
    app = opened(**SHORT, sort="reach")
    assert not app.exception
    assert any("nearest keys hold 90 %" in c.value for c in app.caption)
    next(g for g in app.get("button_group") if g.key == "sort").set_value("ripple").run()
    assert app.query_params["sort"] == "ripple"


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Says whether computations stop half-way, their progress shown at once."""
    monkeypatch.setattr(waiting, "QUIET", -1.0)
    monkeypatch.setattr(waiting, "PAUSE", -1.0)
    compute, stop = measuring.surveyed, [False]

    def surveyed(*args: Any) -> Any:
        if stop[0]:
            args[3](0.5)
            st.stop()  # where a changed control would end the run
        return compute(*args)

    monkeypatch.setattr(measuring, "surveyed", surveyed)
    return lambda value: stop.__setitem__(0, value)


def test_cancel_brings_back_what_was_shown(interrupted: Callable[[bool], None]) -> None:
    app = typed(typed(opened(**SHORT), 64, 127, 0, 63), 70, 80, 0, 9)
    interrupted(True)
    app.select_slider(key="length").set_value(64).run()
    assert "Computing ALiBi (1 of 2): 50 %" in app.get("progress")[0].proto.text
    interrupted(False)
    app.button(key="cancel").click().run()
    assert not app.exception
    assert app.query_params["length"] == "128"
    assert app.query_params["za"] == "70-80.0-9"
    assert len(crumbs(app)) == 2  # the trail too
    assert [t.value for t in app.toast] == ["Cancelled: this is what was shown before."]
    app.run()
    assert not app.toast


def test_cancelled_before_anything_was_shown_is_the_first_view(
    interrupted: Callable[[bool], None],
) -> None:
    interrupted(True)
    app = opened(**SHORT)
    interrupted(False)
    app.button(key="cancel").click().run()
    assert app.select_slider(key="length").value == 1024
    assert "first view" in app.toast[0].value


def test_the_first_view_itself_cannot_be_cancelled(interrupted: Callable[[bool], None]) -> None:
    interrupted(True)
    app = opened()
    assert app.get("progress")
    assert "cancel" not in [b.key for b in app.button]
