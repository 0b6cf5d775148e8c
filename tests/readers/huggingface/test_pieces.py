"""Tokenizers that older checkpoints come with, in files of their own."""

from __future__ import annotations

import json
from pathlib import Path

from viz_core.readers.huggingface import pieces


def test_gpt2s_vocabulary_and_merges(tmp_path: Path) -> None:
    vocabulary = {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "Ġ": 5, "Ġabc": 6}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\nab c\nĠ abc\n", "utf-8")
    found = pieces.tokenizer(tmp_path)
    assert found is not None and found.get_vocab_size() == 7
    assert found.encode("abc abcab", add_special_tokens=False).ids == [4, 6, 3]


def test_berts_vocabulary_in_both_cases(tmp_path: Path) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The", "quick", "##er"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    found = pieces.tokenizer(tmp_path)
    assert found is not None
    assert found.encode("The quicker", add_special_tokens=False).ids == [5, 7, 8]
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    found = pieces.tokenizer(tmp_path)
    assert found is not None
    assert found.encode("The quicker", add_special_tokens=False).ids == [6, 7, 8]


def test_what_is_no_vocabulary_makes_no_tokenizer(tmp_path: Path) -> None:
    assert pieces.tokenizer(tmp_path) is None
    (tmp_path / "merges.txt").write_text("neither")
    (tmp_path / "vocab.json").write_text("[]")
    assert pieces.tokenizer(tmp_path) is None
    assert pieces.tokenizer(tmp_path / "none.gguf") is None
