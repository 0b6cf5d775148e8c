"""The address: what goes in comes out, and what is wrong gets a sentence."""

import pytest

from pages._kit.session import CompareState, SideState, decoded

START = CompareState((SideState("alibi", 1, 4), SideState("rope", 2, 4)))


@pytest.mark.parametrize(
    "state",
    [
        START,
        CompareState((SideState("my.model", 0, 0),), 333, "heldout/web/ot57", "one", 3, True),
        CompareState(START.sides * 2, 64, "pasted", "centred", 9, False, True, True, "A text. &?="),
    ],
)
def test_round_trip(state: CompareState) -> None:
    assert decoded(state.encoded(), START) == (state, [])


def test_the_start_needs_only_its_maps() -> None:
    assert set(START.encoded()) == {"v", "a", "b"}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"length": "-5"}, "length"),
        ({"length": "9" * 400}, "length"),
        ({"length": "many"}, "length"),
        ({"texts": "0"}, "texts"),
        ({"view": "<script>"}, "view"),
        ({"a": "alibi"}, "checkpoint.layer.head"),
        ({"a": "alibi.0.1"}, "checkpoint.layer.head"),
        ({"a": "alibi.1.x"}, "checkpoint.layer.head"),
        ({"v": "99"}, "version"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(query: dict[str, str], words: str) -> None:
    state, wrong = decoded(query, START)
    assert state == START
    assert len(wrong) == 1
    assert words in wrong[0]
    assert len(wrong[0]) < 250


def test_a_long_paste_stays_out_of_the_address() -> None:
    state = CompareState(START.sides, text="pasted", paste="x" * 5000)
    assert "paste" not in state.encoded()
