"""What the core says to people, in Chinese: each sentence is one, with the numbers of the English.

What the core keeps on disk is data, so it stays English whoever asked for it.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from viz_core import (
    attention,
    catalogue,
    devices,
    encodings,
    perplexity,
    published,
    results,
    texts,
    variants,
)
from viz_core.arguments import options
from viz_core.attribution import METHODS, REPLACEMENTS, Target, places, tokens
from viz_core.encodings import Geometry
from viz_core.errors import AtlasError
from viz_core.journal import Journal
from viz_core.model import ModelConfig, Transformer
from viz_core.notebook import measuring
from viz_core.perplexity import PROTOCOLS, protocols
from viz_core.signatures import kinds, slope, spectrum, staircase
from viz_core.store import RunKey, Store
from viz_core.trace import check_length, trace
from viz_core.training.batches import held_out
from viz_core.types import Sample
from viz_core.words import say, speaking

CHINESE = re.compile("[\u4e00-\u9fff]")
KEPT = re.compile(r"\d[\d,.]*\d|\d|'[^']*'")  # numbers, and names as they came
SMALL = Geometry(heads=2, head_dim=4, width=8, length=16)
PIECES = Tokenizer.from_file(str(catalogue.TOKENIZER))
Act = Callable[[], object]


def model(encoding: str) -> Transformer:
    return Transformer(ModelConfig(encoding, 1, 2, 8, 64, 16))


REFUSED: dict[str, Act] = {
    "an unknown encoding": lambda: encodings.get("alibbi"),
    "a parameter that isn't one": lambda: encodings.get("rope").settings({"speed": 1}),
    "a parameter of none": lambda: encodings.get("nope").settings({"speed": 1}),
    "a number out of range": lambda: encodings.get("rope").settings({"theta": 1}),
    "no whole number": lambda: encodings.get("t5").settings({"buckets": 7.5}),
    "no choice of a parameter": lambda: encodings.get("rope").settings({"scaling": "wide"}),
    "an odd head": lambda: encodings.get("rope").make(Geometry(1, 3, 3, 16)),
    "a position past the table": lambda: (
        encodings.get("learned").make(SMALL).embed(torch.zeros(1, 8), torch.tensor([16]))
    ),
    "a setting that is none": lambda: variants.parameters("rope", "wide", 16, 16),
    "a setting of another": lambda: variants.parameters("alibi", "linear:4", 16, 16),
    "a setting without a number": lambda: variants.parameters("rope", "linear:x", 16, 16),
    "a length of nothing": lambda: check_length(model("rope"), 1),
    "a length past the end": lambda: check_length(model("learned"), 17),
    "a length past memory": lambda: check_length(model("rope"), 10**12),
    "a text of one token": lambda: trace(model("rope"), [1]),
    "a window outside": lambda: attention.place(16, (0, 17), None, 8),
    "an empty text": lambda: texts.tokens(texts.PASTED, 8, PIECES, " "),
    "an unknown text": lambda: texts.tokens("novel", 8, PIECES),
    "no tokens": lambda: texts.tokens(texts.RANDOM, 0, PIECES),
    "a start past the text": lambda: texts.tokens(texts.PASTED, 8, PIECES, "One.", start=99),
    "too short for losses": lambda: texts.samples(texts.PASTED, 600, PIECES, 1, "One."),
    "a protocol that is none": lambda: protocols.windows("all", 2048, 512, ""),
    "a document that is too short": lambda: protocols.windows(protocols.FIXED, 300, 512, ""),
    "an unknown checkpoint": lambda: catalogue.find("alibbi"),
    "a path without a checkpoint": lambda: catalogue.find("there/is/none.safetensors"),
    "a table that isn't there": lambda: results.read(Path("there/is/none.csv")),
    "a method that is none": lambda: tokens.attribute(
        model("rope"), [1, 2, 3], Target.following([1, 2, 3], [1]), "guess"
    ),
    "a query that nothing follows": lambda: Target.following([1, 2, 3], [2]),
    "a token out of range": lambda: Target((1,), (99,)).check(3, 64),
    "texts of two lengths": lambda: places.length([[1, 2, 3], [1, 2]]),
    "too short to tell kinds": lambda: kinds.by_distance(np.ones((1, 8))),
    "slopes of no text": lambda: slope.compare(np.empty((0, 2)), np.ones(2)),
    "too short for a spectrum": lambda: spectrum.spectrum(np.ones((1, 8)), np.ones(8, int)),
    "no stair": lambda: staircase.climb(np.ones((1, 9)), np.array([0, 1, 2])),
    "a layer too many": lambda: measuring.place("layer", 5, 4),
    "too little held out": lambda: held_out(np.zeros(8, np.uint16), 16, 1, 0),
    "a limit below nothing": lambda: Store(Path("there/is/none"), -1),
}


def refusal(act: Act) -> str:
    with pytest.raises(AtlasError) as found:
        act()
    return str(found.value)


def alike(english: str, chinese: str) -> bool:
    """Whether `chinese` is Chinese, with the numbers and names of `english`."""
    same = Counter(KEPT.findall(english)) == Counter(KEPT.findall(chinese))
    return same and CHINESE.search(chinese) is not None and not CHINESE.search(english)


@pytest.mark.parametrize("act", REFUSED.values(), ids=REFUSED.keys())
def test_refusals_are_said_in_the_language_of_whoever_asks(
    act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "free_bytes", lambda _: 2**24)  # the same both times
    english = refusal(act)
    with speaking("zh"):
        assert alike(english, refusal(act))


STATEMENTS = {
    **{
        f"{card.id}, {name}": getattr(card, name)
        for card in encodings.all_encodings().values()
        for name in ("summary", "beyond", "law", "acts_on")
    },
    **{
        f"{card.id}, {p.name}": p.help
        for card in encodings.all_encodings().values()
        for p in card.parameters
    },
    **PROTOCOLS,
    **METHODS,
    **REPLACEMENTS,
    **{p.name: p.name for p in places.divide(16, 32)},
    **{name: s.note for name, s in published.SOURCES.items() if s.note},
    **{f"{d.id}, title": d.title for d in published.DISAGREEMENTS},
    **{d.id: d.text for d in published.DISAGREEMENTS},
    **{
        kind: kind
        for kind in (
            *(kinds.DIAGONAL, kinds.PREVIOUS, kinds.LOCAL, kinds.LONG),
            *(kinds.INDUCTION, kinds.SINK, kinds.MIXED),
        )
    },
}


@pytest.mark.parametrize("words", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_statements_keep_their_numbers_in_chinese(words: str) -> None:
    with speaking("zh"):
        assert alike(words.replace("'", "’"), say(words).replace("'", "’"))


def test_protocols_are_described_by_the_numbers_that_they_use() -> None:
    assert f" {protocols.TARGETS} target" in PROTOCOLS[protocols.FIXED]
    moved = f"moved by {protocols.STRIDE}, of which the last {protocols.STRIDE} "
    assert moved in PROTOCOLS[protocols.SLIDING]


def test_articles_have_chinese_names_and_papers_keep_theirs() -> None:
    with speaking("zh"):
        assert published.SOURCES["article-a"].label == "文章 A"
        assert published.SOURCES["peng-2023"].label == "Peng et al. 2023"


def test_titles_of_settings() -> None:
    with speaking("zh"):
        assert variants.title("rope", "off") == "RoPE, 关闭位置"
        assert variants.title("alibi", "exponent:6") == "ALiBi, 指数 6"
        assert variants.title("rope", "linear:4") == "RoPE, PI s = 4"


def test_texts_to_choose_from() -> None:
    english = texts.available()
    with speaking("zh"):
        chinese = texts.available()
    assert [c.id for c in chinese] == [c.id for c in english]
    for one, other in zip(english, chinese, strict=True):
        assert CHINESE.search(other.title)
        assert alike(one.about, other.about)


@pytest.mark.parametrize("start", [0, 2])
@pytest.mark.parametrize("repeat", [False, True])
def test_notes_of_texts_that_fall_short(start: int, repeat: bool) -> None:
    def note() -> str:
        words = "Once upon a time there was a king."
        return texts.tokens(texts.PASTED, 1_024, PIECES, words, start, repeat).note

    english = note()
    with speaking("zh"):
        assert alike(english, note())


def test_a_note_on_few_passages() -> None:
    def note() -> str:
        return texts.passages(texts.PASTED, 8, 5, PIECES, "Once upon a time. " * 4)[-1].note

    english = note()
    with speaking("zh"):
        assert alike(english, note())


def test_attributions_that_have_not_converged() -> None:
    found = tokens.TokenAttribution(np.array([1.0, 2.0]), 5.0, 0.0, tokens.GRADIENTS, 50)
    english = found.warning
    with speaking("zh"):
        assert alike(english, found.warning)


def test_a_damaged_checkpoint_is_left_out_in_words(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"nothing of the kind")
    with speaking("zh"):
        _, (sentence,) = catalogue.scan(tmp_path)
    assert sentence.startswith("检查点 broken 已略去。")


def test_trouble_of_the_store_is_said_to_whoever_looks(tmp_path: Path) -> None:
    key = RunKey("c" * 64, "", ("a" * 64,), 2048, "float32", "window")
    store = Store(tmp_path / "store", 100)
    with speaking("zh"):
        assert not store.put(key, {"value": np.ones(100)}, {})
    english = store.trouble
    assert english is not None
    with speaking("zh"):
        assert alike(english, store.trouble or "")


def test_a_journal_that_is_a_folder(tmp_path: Path) -> None:
    with speaking("zh"):
        assert refusal(lambda: Journal(tmp_path)).startswith(f"无法读取 {tmp_path}（")


def test_a_file_that_is_no_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("ENCODING = 7\n")
    monkeypatch.setenv(encodings.OWN, str(tmp_path))
    english = refusal(encodings.all_encodings)
    with speaking("zh"):
        chinese = refusal(encodings.all_encodings)
    assert alike(english, chinese)
    assert "mine.py" in chinese
    assert "int" in chinese


def test_options_that_pages_read() -> None:
    with speaking("zh"), pytest.raises(argparse.ArgumentTypeError, match="应为 1 到 26 之间的整数"):
        options.whole(1, 26)("x")


def undefined() -> perplexity.Row:
    samples = [Sample("one", "prose", tuple(range(40)), "a" * 64)]
    (row,) = perplexity.measure(model("learned"), samples, [20], protocols.PIECES)
    return row


def test_notes_in_tables_are_english_and_said_when_shown() -> None:
    with speaking("zh"):
        row = undefined()
        assert row.note == "undefined past its 16 trained positions"
        assert row == undefined()
        assert encodings.retold(row.note) == "超出训练过的 16 个位置后没有定义"
        xpos = encodings.ending(encodings.get("xpos").make(SMALL))
        assert alike(xpos, encodings.retold(xpos))
    assert encodings.retold(row.note) == row.note
    assert encodings.retold("of another kind, 16") == "of another kind, 16"
    assert encodings.retold("") == ""
