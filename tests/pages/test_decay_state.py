"""The address of Decay: what goes in comes out, and what is wrong gets a sentence."""

import pytest

from pages.decay.state import DecayState, colon, decoded


@pytest.mark.parametrize(
    "state",
    [
        DecayState(),
        DecayState(("nope",), estimator="mean", law=False, x_log=True, view="nope"),
        DecayState(source="own", text="heldout/web/ot57", length=2048, texts=16, setting="off"),
        DecayState(sink=True, layer=0, head=7, changed="alibi", what="exponent:6.5"),
        DecayState((), setting="theta:50000", what="dynamic"),
    ],
)
def test_round_trip(state: DecayState) -> None:
    assert decoded(state.encoded()) == (state, [])


def test_the_start_needs_no_words_in_the_address() -> None:
    assert DecayState().encoded() == {"v": "1"}


def test_an_address_counts_layers_and_heads_from_1_and_needs_no_escapes() -> None:
    words = DecayState(("alibi", "t5"), layer=2, head=0, what="ntk:4").encoded()
    assert words == {"v": "1", "chosen": "alibi~t5", "layer": "3", "head": "1", "what": "ntk-4"}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"source": "theirs"}, "source"),
        ({"estimator": "<script>"}, "estimator"),
        ({"length": "513"}, "length"),
        ({"texts": "1"}, "texts"),
        ({"sink": "yes"}, "sink"),
        ({"layer": "0"}, "layer"),
        ({"head": "-1"}, "head"),
        ({"setting": "linear-x"}, "linear-x"),
        ({"what": "theta--1"}, "theta--1"),
        ({"v": "99"}, "version"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(query: dict[str, str], words: str) -> None:
    state, wrong = decoded(query)
    assert len(wrong) == 1
    assert words in wrong[0]
    assert len(wrong[0]) < 250
    assert state == DecayState()


def test_names_in_an_address_stay_short() -> None:
    state, wrong = decoded({"chosen": "~".join(f"{i}{'x' * 500}" for i in range(500))})
    assert len(state.chosen) < 20
    assert all(len(name) < 100 for name in state.chosen)
    assert not wrong


@pytest.mark.parametrize("word", ["linear", "linear-fit", "linear-inf", "exponent-nan", "rm -rf"])
def test_settings_are_of_a_kind_and_a_positive_number(word: str) -> None:
    assert colon(word) is None
