"""The address of Extrapolation: what goes in comes out, and what is wrong gets a sentence."""

import pytest

from pages.extrapolation.state import SETTINGS, LabState, decoded


@pytest.mark.parametrize(
    "state",
    [
        LabState(),
        LabState("sliding-window", "python-docs", "loss", ("", "linear:4", "theta:1000000")),
        LabState(measure="difference", settings=(), live="alibi", setting="exponent:6.5"),
        LabState(setting="", on="heldout/web/ot57", upto=8192, report="article-a-512-not-stated"),
        LabState(setting="dynamic", settings=("dynamic", "yarn:fit", "llama3:1.5")),
    ],
)
def test_round_trip(state: LabState) -> None:
    assert decoded(state.encoded()) == (state, [])


def test_the_start_needs_no_words_in_the_address() -> None:
    assert LabState().encoded() == {"v": "1"}


def test_settings_need_no_escapes_in_an_address() -> None:
    words = LabState(settings=("", "linear:fit", "theta:50000")).encoded()["settings"]
    assert words == "none~linear-fit~theta-50000"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"protocol": "guess"}, "protocol"),
        ({"measure": "<script>"}, "measure"),
        ({"upto": "9000000"}, "upto"),
        ({"settings": "linear-x~none"}, "linear-x"),
        ({"settings": "linear-nan~none"}, "linear-nan"),
        ({"settings": "theta--1"}, "theta--1"),
        ({"setting": "rm -rf"}, "rm -rf"),
        ({"protocol": "non-overlapping", "measure": "difference"}, "fixed targets alone"),
        ({"v": "99"}, "version"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(query: dict[str, str], words: str) -> None:
    state, wrong = decoded(query)
    assert len(wrong) == 1
    assert words in wrong[0]
    assert len(wrong[0]) < 250
    assert state.measure == "perplexity"
    assert set(state.settings) <= set(SETTINGS)


def test_names_in_an_address_stay_short() -> None:
    state, wrong = decoded({"text": "x" * 5000, "settings": "~".join(["none"] * 5000)})
    assert len(state.text) < 100
    assert len(state.settings) < 100
    assert not wrong
