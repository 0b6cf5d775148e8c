"""The address: what goes in comes out, and what is wrong gets a sentence."""

from dataclasses import replace

import pytest

from pages._shared.boxes import seen
from pages.compare.state import CompareState, SideState, decoded

START = CompareState((SideState("alibi", 1, 4), SideState("rope", 2, 4)))
BOX = ((512, 768), (0, 256))


def on(*boxes: object, **change: object) -> CompareState:
    sides = tuple(s.on(b) for s, b in zip(START.sides, boxes, strict=True))
    return replace(START, sides=sides, **change)


@pytest.mark.parametrize(
    "state",
    [
        START,
        CompareState((SideState("my.model", 0, 0),), 333, "heldout/web/ot57", "one", 3, True),
        CompareState(START.sides * 2, 64, "pasted", "centred", 9, False, True, True, "A text. &?="),
        replace(START, pooling="max", sort="reach"),
        on(BOX, BOX),
        on(BOX, None, linked=False),
        on(None, ((9, 10), (9, 10)), linked=False),
    ],
)
def test_round_trip(state: CompareState) -> None:
    assert decoded(state.encoded(), START) == (state, [])


def test_the_start_needs_only_its_maps() -> None:
    assert set(START.encoded()) == {"v", "a", "b"}


def test_a_window_stands_in_the_address_once_for_linked_maps_both_ends_included() -> None:
    encoded = on(BOX, BOX).encoded()
    assert encoded["za"] == "512-767.0-255"
    assert "zb" not in encoded
    apart = on(BOX, BOX, linked=False).encoded()
    assert apart["zb"] == apart["za"]
    assert apart["linked"] == "0"


def test_a_window_alone_opens_the_first_maps_on_it() -> None:
    assert decoded({"za": "512-767.0-255"}, START) == (on(BOX, BOX), [])
    apart = decoded({"zb": "512-767.0-255", "linked": "0"}, START)
    assert apart == (on(None, BOX, linked=False), [])


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"length": "-5"}, "length"),
        ({"length": "9" * 400}, "length"),
        ({"length": "many"}, "length"),
        ({"length": "000000001" + "0" * 5000}, "length"),
        ({"texts": "0"}, "texts"),
        ({"view": "<script>"}, "view"),
        ({"pooling": "median"}, "pooling"),
        ({"sort": "beauty"}, "sort"),
        ({"a": "alibi"}, "checkpoint.layer.head"),
        ({"a": "alibi.0.1"}, "checkpoint.layer.head"),
        ({"a": "alibi.1.x"}, "checkpoint.layer.head"),
        ({"a": "alibi.0001" + "0" * 5000 + ".1"}, "checkpoint.layer.head"),
        ({"v": "99"}, "version"),
        ({"v": "9" * 400}, "version"),
        ({"za": ""}, "queries.keys"),
        ({"za": "512-767"}, "queries.keys"),
        ({"za": "512-767.0-255.1-2"}, "queries.keys"),
        ({"za": "767-512.0-255"}, "queries.keys"),
        ({"za": "-5-3.0-1"}, "queries.keys"),
        ({"za": "9" * 400 + "-3.0-1"}, "queries.keys"),
        ({"za": "0-255.512-767"}, "queries.keys"),  # every key after every query
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


@pytest.mark.parametrize(
    ("box", "expected"),
    [(((0, 8), (7, 9)), True), (((0, 8), (8, 9)), False), (((7, 8), (7, 8)), True)],
)
def test_a_window_is_seen_if_its_first_key_is_not_after_its_last_query(
    box: tuple[tuple[int, int], tuple[int, int]], expected: bool
) -> None:
    assert seen(box) == expected
