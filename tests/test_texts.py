"""The texts: what is listed, how much of it comes, and that it is the same each time."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from viz_core import texts
from viz_core.errors import LengthError, TextError, UnknownName

ROOT = Path(__file__).parents[1]
ALWAYS = ["python-docs", "prose", "random", "repeated"]
STORY = "The keeper lit the lamp, and it burned. "


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(ROOT / "checkpoints/tokenizer.json"))


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus of three held-out documents, the last of them short."""
    names = {"austen/persuasion": 40, "sotu/1845_james_polk_d": 40, "tdavid/020": 2}
    lines = [
        dict(id=n, source=n.split("/")[0], licence="public-domain", split="val", text=n + STORY * k)
        for n, k in names.items()
    ]
    (tmp_path / "heldout.jsonl").write_text("\n".join(map(json.dumps, lines)))
    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATLAS_CORPUS", str(tmp_path / "nowhere"))


@pytest.fixture(scope="module")
def prose() -> str:
    return (ROOT / "viz_core/texts/prose.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def prose_ids(prose: str, tokenizer: Tokenizer) -> list[int]:
    return tokenizer.encode(prose).ids


def test_the_page_of_prose_is_plain_and_of_the_promised_size(prose: str) -> None:
    assert prose.isascii()
    assert 9_000 <= len(prose) <= 10_000


def test_without_a_corpus_four_texts_are_listed(no_corpus: None) -> None:
    assert [c.id for c in texts.available()] == ALWAYS
    assert all(c.title and c.about for c in texts.available())


def test_held_out_documents_join_the_list(corpus: Path, tmp_path: Path) -> None:
    names = ["heldout/austen/persuasion", "heldout/sotu/1845_james_polk_d", "heldout/tdavid/020"]
    found = {c.id: c.title for c in texts.available()}
    assert list(found) == [*ALWAYS, "heldout", *names]
    assert found[names[0]] == "Jane Austen: Persuasion (held out)"
    assert found[names[1]] == "State of the Union: 1845 James Polk (held out)"
    assert [c.id for c in texts.available(tmp_path / "elsewhere")] == ALWAYS


@pytest.mark.usefixtures("corpus")
def test_every_listed_text_can_be_read(tokenizer: Tokenizer) -> None:
    for choice in texts.available():
        one = texts.tokens(choice.id, 20, tokenizer)
        assert len(one.ids) == 20
        assert not one.note
        assert texts.tokens(choice.id, 20, tokenizer) == one
        assert texts.passages(choice.id, 20, 1, tokenizer) == [one]


def test_the_hash_is_of_the_ids_as_little_endian_uint32(tokenizer: Tokenizer) -> None:
    found = texts.tokens("prose", 100, tokenizer)
    raw = b"".join(i.to_bytes(4, "little") for i in found.ids)
    assert found.sha256 == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize("length", [1, 2, 7, 200, 1000, 2000])
@pytest.mark.parametrize("start", [0, 1, 333])
def test_a_part_is_what_the_whole_has_there(
    tokenizer: Tokenizer, prose_ids: list[int], length: int, start: int
) -> None:
    found = texts.tokens("prose", length, tokenizer, start=start)
    assert found.ids == prose_ids[start : start + length]


@pytest.mark.parametrize(
    "text",
    [
        "    " * 3000 + "word " * 300,  # whitespace alone for longer than a prefix
        "a" * 5000,  # no place to cut
        "don't we'll \r\n\r\n\t  x = [1, 2]\n\n\n" * 300,
        "été 日本語 🙂 " * 400,
        "one<|endoftext|>two " * 400,
    ],
)
def test_cutting_a_prefix_changes_no_token(tokenizer: Tokenizer, text: str) -> None:
    whole = tokenizer.encode(text).ids
    for length in (1, 5, 50, len(whole) // 2, len(whole) - 1, len(whole)):
        assert texts.tokens("pasted", length, tokenizer, pasted=text).ids == whole[:length]


def test_a_long_text_is_not_encoded_whole(tokenizer: Tokenizer) -> None:
    class Counting:
        longest = 0

        def encode(self, text: str, add_special_tokens: bool) -> object:
            self.longest = max(self.longest, len(text))
            return tokenizer.encode(text, add_special_tokens=add_special_tokens)

    counting = Counting()
    texts.tokens("python-docs", 500, counting)  # type: ignore[arg-type]
    texts.passages("python-docs", 500, 8, counting)  # type: ignore[arg-type]
    assert 0 < counting.longest < 10_000


def test_a_short_text_is_used_whole_or_repeated_and_says_so(tokenizer: Tokenizer) -> None:
    whole = tokenizer.encode(STORY * 100).ids
    n = len(whole)
    short = texts.tokens("pasted", n + 1000, tokenizer, pasted=STORY * 100)
    assert short.ids == whole
    assert short.note == (f"The text has {n:,} tokens, fewer than {n + 1000:,}: all of it is used.")
    again = texts.tokens("pasted", 3 * n + 5, tokenizer, pasted=STORY * 100, repeat=True)
    assert again.ids == whole * 3 + whole[:5]
    assert again.note.endswith("it is repeated up to that length.")
    rest = texts.tokens("pasted", n, tokenizer, pasted=STORY * 100, start=10)
    assert rest.ids == whole[10:]
    assert f"{n - 10:,} tokens from token 10 on" in rest.note
    exact = texts.tokens("pasted", n, tokenizer, pasted=STORY * 100, repeat=True)
    assert (exact.ids, exact.note) == (whole, "")
    one = texts.tokens("pasted", 2, tokenizer, pasted="a")
    assert one.note.startswith("The text has 1 token, fewer than 2")


def test_what_cannot_be_read_gives_one_sentence(tokenizer: Tokenizer, corpus: Path) -> None:
    for empty in ("", " \n\t "):
        with pytest.raises(TextError, match="is empty"):
            texts.tokens("pasted", 10, tokenizer, pasted=empty)
        with pytest.raises(TextError, match="is empty"):
            texts.passages("pasted", 10, 2, tokenizer, pasted=empty)
    with pytest.raises(TextError, match="got 1,000"):
        texts.tokens("pasted", 10, tokenizer, pasted=STORY, start=1000)
    for name in ("nix", "heldout/nix", "heldout/", "", "prose/1"):
        with pytest.raises(UnknownName, match="repeated, or heldout/ID; got") as caught:
            texts.tokens(name, 10, tokenizer)
        assert "persuasion" not in str(caught.value)
        with pytest.raises(UnknownName):
            texts.passages(name, 10, 2, tokenizer)
    for name in ("prose", "random"):
        with pytest.raises(LengthError):
            texts.tokens(name, 0, tokenizer)
        with pytest.raises(LengthError):
            texts.tokens(name, 5, tokenizer, start=-1)
        with pytest.raises(LengthError):
            texts.passages(name, 5, 0, tokenizer)
        with pytest.raises(LengthError):
            texts.passages(name, -5, 1, tokenizer)


def test_held_out_texts_without_a_corpus_say_what_to_run(
    tokenizer: Tokenizer, no_corpus: None
) -> None:
    for name in ("heldout", "heldout/web/ot57"):
        with pytest.raises(TextError, match="`make corpus`"):
            texts.tokens(name, 10, tokenizer)
        with pytest.raises(TextError, match="`make corpus`"):
            texts.passages(name, 10, 2, tokenizer)


def test_random_tokens_are_seeded_and_without_the_end_of_a_text(tokenizer: Tokenizer) -> None:
    long = texts.tokens("random", 20_000, tokenizer).ids
    assert (min(long), max(long)) == (1, tokenizer.get_vocab_size() - 1)
    assert texts.tokens("random", 300, tokenizer).ids == long[:300]
    assert texts.tokens("random", 300, tokenizer, start=40).ids == long[40:340]
    several = texts.passages("random", 300, 5, tokenizer)
    assert several[0].ids == long[:300]
    assert len({p.sha256 for p in several}) == 5


def test_repeated_tokens_come_round_every_64(tokenizer: Tokenizer) -> None:
    several = texts.passages("repeated", 200, 3, tokenizer)
    assert several[0] == texts.tokens("repeated", 200, tokenizer)
    assert len({p.sha256 for p in several}) == 3
    for p in several:
        assert len(p.ids) == 200
        assert p.ids[64:] == p.ids[:-64]
    assert len(set(several[0].ids[:64])) > 55
    assert texts.tokens("repeated", 64, tokenizer, start=3).ids == several[0].ids[3:67]
    assert len(texts.tokens("repeated", 10, tokenizer).ids) == 10


def starts_in(whole: list[int], found: list[texts.Passage]) -> list[int]:
    """Where the passages stand in the whole text, each after the end of the one before."""
    starts, after = [], 0
    windows = np.lib.stride_tricks.sliding_window_view(whole, len(found[0].ids))
    for p in found:
        places = np.flatnonzero((windows[after:] == p.ids).all(axis=1))
        starts.append(after + int(places[0]))
        after = starts[-1] + len(p.ids)
    return starts


@pytest.mark.parametrize(("length", "count"), [(20, 8), (100, 2), (300, 8), (600, 4), (1200, 2)])
def test_passages_are_evenly_spaced_parts_of_the_text_that_do_not_overlap(
    tokenizer: Tokenizer, prose_ids: list[int], length: int, count: int
) -> None:
    found = texts.passages("prose", length, count, tokenizer)
    assert [len(p.ids) for p in found] == [length] * count
    assert not any(p.note for p in found)
    starts = starts_in(prose_ids, found)
    assert starts[0] == 0
    gaps = np.diff(starts)
    assert gaps.min() > 0.8 * gaps.max()
    assert starts[-1] + length > 0.5 * len(prose_ids)


def test_a_text_too_short_for_all_passages_gives_as_many_as_fit(
    tokenizer: Tokenizer, prose_ids: list[int]
) -> None:
    found = texts.passages("prose", 1000, 8, tokenizer)
    assert starts_in(prose_ids, found) == [0, len(prose_ids) - 1000]
    assert [bool(p.note) for p in found] == [False, True]
    assert "the mean is over 2" in found[-1].note
    (single,) = texts.passages("prose", 2000, 8, tokenizer)
    assert single.ids == prose_ids[:2000]
    assert "the mean is over 1" in single.note
    (all_of_it,) = texts.passages("prose", 100_000, 8, tokenizer)
    assert all_of_it.ids == prose_ids
    assert "all of it is used" in all_of_it.note


def test_pasted_text_gives_several_passages_too(tokenizer: Tokenizer) -> None:
    whole = tokenizer.encode(STORY * 200).ids
    found = texts.passages("pasted", 50, 3, tokenizer, pasted=STORY * 200)
    assert len(starts_in(whole, found)) == 3


def test_held_out_takes_the_start_of_each_document(tokenizer: Tokenizer, corpus: Path) -> None:
    names = ["austen/persuasion", "sotu/1845_james_polk_d", "tdavid/020"]
    each = [texts.tokens(f"heldout/{n}", 20, tokenizer) for n in names]
    assert texts.passages("heldout", 20, 3, tokenizer) == each
    assert texts.passages("heldout", 20, 2, tokenizer) == each[:2]
    *first, last = texts.passages("heldout", 20, 9, tokenizer)
    assert [*first, texts.Passage(last.ids, last.sha256)] == each
    assert "fewer than 9 held-out documents: the mean is over 3" in last.note
    short = texts.passages("heldout", 200, 3, tokenizer)[-1]
    assert len(short.ids) < 200
    assert "all of it is used" in short.note


def test_a_rebuilt_corpus_is_read_again(corpus: Path) -> None:
    assert len(texts.available()) == len(ALWAYS) + 4
    file = corpus / "heldout.jsonl"
    file.write_text(file.read_text().splitlines()[0])
    assert len(texts.available()) == len(ALWAYS) + 2


def test_pieces_show_whitespace_stray_bytes_and_the_end(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("the lamp\n\tburned  é<|endoftext|>").ids
    shown = texts.pieces(ids, tokenizer)
    assert len(shown) == len(ids)
    assert "".join(shown).startswith("the·lamp↵⇥burned··")
    assert shown[-1] == "⟨end⟩"
    face = texts.pieces(tokenizer.encode("🙂").ids, tokenizer)
    assert "".join(face).replace("⟩⟨", " ") == "⟨F0 9F 99 82⟩"
    nothing = texts.pieces(tokenizer.encode("\x00\u200b").ids, tokenizer)
    assert "".join(nothing).replace("⟩⟨", " ") == "⟨00 E2 80 8B⟩"
    assert texts.pieces([999_999], tokenizer) == ["⟨?⟩"]
    assert texts.pieces([], tokenizer) == []


def test_every_piece_has_a_label_that_shows(tokenizer: Tokenizer) -> None:
    shown = texts.pieces(range(tokenizer.get_vocab_size()), tokenizer)
    assert all(label and label.isprintable() and not label.isspace() for label in shown)


def test_pieces_of_other_tokenizers_read_as_they_are() -> None:
    class Sentence:
        def id_to_token(self, i: int) -> str:
            return ["▁lamp", "日本", "<s>"][i]

    assert texts.pieces([0, 1, 2], Sentence()) == ["·lamp", "日本", "<s>"]  # type: ignore[arg-type]


def test_torch_is_not_needed() -> None:
    code = "import sys, viz_core.texts; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
