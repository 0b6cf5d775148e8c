"""What Attribution is asked: the address, the target in ids and in words, the text on its tints."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tokenizers import Tokenizer

from pages._shared import offered
from pages.attribution import question, text
from pages.attribution.state import AttributionState, decoded
from viz_core import catalogue
from viz_core.catalogue import Checkpoint
from viz_core.errors import TextError, UsageError


@pytest.fixture
def rope() -> Checkpoint:
    return offered.checkpoints()[0]["rope"]


@pytest.fixture(scope="module")
def pieces() -> Tokenizer:
    return Tokenizer.from_file(str(catalogue.TOKENIZER))


@pytest.mark.parametrize(
    "state",
    [
        AttributionState(),
        AttributionState("alibi", "python-docs", 512, many=True, first=3, last=99),
        AttributionState(last=0, method="occlusion", kind="difference", token=" the", against="a"),
        AttributionState(steps=200, layer=0, head=7, replacement="position", place="beyond"),
        AttributionState(text="pasted", paste="One, two & three.", kept=True, kind="logit"),
    ],
)
def test_round_trip(state: AttributionState) -> None:
    assert decoded(state.encoded()) == (state, [])


def test_the_start_needs_no_words_in_the_address() -> None:
    assert AttributionState().encoded() == {"v": "1"}
    words = AttributionState(text="pasted", paste="x" * 5000, layer=2, head=0).encoded()
    assert words == {"v": "1", "text": "pasted", "layer": "3", "head": "1"}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"length": "100"}, "length"),
        ({"method": "shapley"}, "shapley"),
        ({"kind": "<script>"}, "kind"),
        ({"steps": "51"}, "steps"),
        ({"many": "yes"}, "many"),
        ({"last": "-1"}, "last"),
        ({"first": "2000000"}, "first"),
        ({"layer": "0"}, "layer"),
        ({"place": "here"}, "place"),
        ({"replacement": "one"}, "replacement"),
        ({"v": "2"}, "version"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(query: dict[str, str], words: str) -> None:
    state, wrong = decoded(query)
    assert len(wrong) == 1
    assert words in wrong[0]
    assert state == AttributionState()


def ask(rope: Checkpoint, **change: object) -> question.Question:
    state = AttributionState(length=64, **change)
    return question.ask(state, rope, question.read(state, rope))


def test_without_more_it_is_the_token_that_follows_the_last_query(rope: Checkpoint) -> None:
    asked = ask(rope)
    ids = asked.passage.ids
    assert asked.target.queries == (62,)
    assert asked.target.tokens == (ids[63],)
    assert asked.words == (
        f"the log-probability of “{asked.labels[63]}” after query 62, “{asked.labels[62]}”"
    )
    assert ask(rope, last=500).last == 62  # the text ends before


def test_a_range_of_queries_is_their_mean(rope: Checkpoint) -> None:
    asked = ask(rope, many=True, last=40, kind="logit")
    assert asked.target.queries == tuple(range(31, 41))
    assert asked.target.tokens == tuple(asked.passage.ids[32:42])
    assert asked.words == "the mean logit of the token that follows over queries 31 to 40"
    assert ask(rope, many=True, first=50, last=40).target.queries == (40,)


def test_a_word_is_meant_with_the_space_that_nobody_types(
    rope: Checkpoint, pieces: Tokenizer
) -> None:
    the, of = (pieces.encode(word).ids[0] for word in (" the", " of"))
    asked = ask(rope, kind="difference", token="the", against="·of")
    assert (asked.target.tokens, asked.target.others) == ((the,), (of,))
    assert "the logit of “·the” less that of “·of” after query 62" in asked.words
    assert ask(rope, token="s").target.tokens != ask(rope, token="the").target.tokens
    (end,) = pieces.encode(")").ids  # no token is a bracket after a space
    assert ask(rope, token=")").target.tokens in ((end,), tuple(pieces.encode(" )").ids))


def test_what_cannot_be_asked_is_one_sentence(rope: Checkpoint) -> None:
    with pytest.raises(UsageError, match="another token for a difference"):
        ask(rope, kind="difference")
    with pytest.raises(UsageError, match="one token"):
        ask(rope, token="extraordinary circumstances")
    with pytest.raises(TextError, match="2 tokens or more"):
        question.read(AttributionState(text="pasted", paste="a"), rope)


def test_tints_say_the_sign_and_how_much() -> None:
    labels = ["A", "·<b>&", "·x", "↵", "·end"]
    sent = text.message(labels, np.array([0.0, 2.0, -0.5, 0.02, 0.0]), [3], "nats", False)
    zero, large, small, asked, after = sent["items"]
    assert large["tint"] == "rgba(191,98,55,0.600)" and "solid" in large["line"]
    assert small["tint"] == "rgba(58,119,175,0.300)"  # a quarter: half the tint
    assert "dotted" in small["line"]
    assert zero["tint"].endswith(",0.000)") and zero["line"] == ""
    assert large["text"] == " <b>&"
    assert large["words"] == "1 “·<b>&”, distance 2: +2 nats"
    assert small["words"].endswith("distance 1: −0.5 nats")
    assert asked["kind"] == "asked" and asked["text"] == "↵\n"
    assert after == {"text": " end", "words": "4 “·end”: after what is explained", "kind": "unread"}
    assert [mark["text"] for mark in sent["legend"]] == ["−2", "−0.5", "0", "+0.5", "+2"]
    json.dumps(sent, allow_nan=False)
    dark = text.message(labels, np.zeros(5), [3], "nats", True)
    assert dark["items"][0]["tint"] != zero["tint"]


def test_a_range_is_not_outlined_and_nothing_divides_by_zero() -> None:
    sent = text.message(["a", "b", "c"], np.zeros(3), [0, 1], "nats", False)
    assert [item["kind"] for item in sent["items"]] == ["", "", "unread"]


def test_what_leaves_the_page_has_no_words_of_someones_own(rope: Checkpoint) -> None:
    assert ask(rope).public == ask(rope).words
    own = ask(rope, text="pasted", paste="Secret words stand in this text, one after another.")
    assert own.passage.own and "“" in own.words
    last = len(own.passage.ids) - 2
    assert own.public == f"the log-probability up to query {last} of a text of one's own"
