"""JSON from strangers: what isn't JSON, what is too much of it, and what names code."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from tests.readers.intake.files import TOKENIZER
from tests.readers.intake.said import LIMITS, refused
from viz_core.readers.intake.documents import check_vocabulary, parse, read_json, without_code
from viz_core.readers.intake.notes import note


def test_plain_json_is_read(tmp_path: Path) -> None:
    value = {"a": [1, -2.5, 1e-9, None, True, "größer"], "b": {"c": {}}, "n": 2**63}
    (tmp_path / "config.json").write_text(json.dumps(value, ensure_ascii=False))
    assert read_json(tmp_path / "config.json", LIMITS) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "something else"),
        (b"{", "something else"),
        (b"{'a': 1}", "something else"),
        (b"[1, 2] 3", "something else"),
        (b'"\xff"', "something else"),
        ('{"a": 1}'.encode("utf-16"), "something else"),
        (b"\xef\xbb\xbf{}", "something else"),
        (b'{"a": 1, "a": 2}', "'a' twice"),
        (b'{"x": {"b": 1, "c": 2, "b": 1}}', "'b' twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b'{"a": 1e999}', "'1e999'"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "10,000 digits"),
        (b"[" * 33 + b"]" * 33, "deeper"),
        (b"[" * 100_000, "deeper"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "deeper"),
        (b'{"\\u202e\\n": 1, "\\u202e\\n": 1}', r"\u202e\n"),
    ],
    ids=lambda text: str(text)[:16],
)
def test_what_is_no_plain_json(text: bytes, said: str) -> None:
    message = refused(lambda: parse(text, "config.json", LIMITS))
    assert said in message and "'config.json'" in message


def test_depth_at_the_limit() -> None:
    assert parse(b"[" * 32 + b"]" * 32, "a.json", LIMITS)


def test_sizes_are_known_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    limits = replace(LIMITS, document=1_000)
    path.write_bytes(b"[" + b"1," * 600 + b"1]")
    assert "1000 bytes" in refused(lambda: read_json(path, limits)).replace(",", "")
    with path.open("wb") as file:
        file.truncate(1 << 40)  # no byte of it on the disk
    refused(lambda: read_json(path, LIMITS))
    assert "Is a directory" in refused(lambda: read_json(tmp_path, LIMITS))


def test_many_small_values_take_no_memory() -> None:
    """A list of empty lists takes 24 times the memory of its text."""
    text = b"[" + b"[]," * 5_000_000 + b"[]]"
    tracemalloc.start()
    message = refused(lambda: parse(text, "vocab.json", LIMITS))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "at most 4,000,000 values" in message and peak < 1 << 20


def test_code_and_places_are_taken_out_at_any_depth() -> None:
    found, code = without_code(
        {
            "model_type": "llama",
            "auto_map": {"AutoModel": "modeling_evil.Evil"},
            "_name_or_path": "/home/someone/model",
            "text_config": {
                "hidden_size": 8,
                "attn_implementation": "evil/kernel",
                "list": [{"custom_generate": "x", "kept": 1}],
            },
            "_attn_implementation_internal": "evil/kernel",
            "vocab_file": "/etc/passwd",
            "chat_template": "{{ x }}",
            "_attn_implementation_autoset": True,
            "attn_implementation": "sdpa",
            "trust_remote_code": True,
            "vocab": {"a_file": 3},
        }
    )
    assert found == {
        "model_type": "llama",
        "text_config": {"hidden_size": 8, "list": [{"kept": 1}]},
        "vocab": {"a_file": 3},
    }
    assert code == [
        "_attn_implementation_internal",
        "attn_implementation",
        "auto_map",
        "custom_generate",
        "trust_remote_code",
    ]
    assert without_code({"_name_or_path": "evil.py"}) == ({}, ["_name_or_path"])
    assert "is never run" in note("code", code, "config.json").words


def test_a_vocabulary_within_its_limit(tmp_path: Path) -> None:
    limits = replace(LIMITS, vocabulary=2)
    for name, content in {
        "tokenizer.json": json.dumps(TOKENIZER),
        "vocab.json": '{"a": 0, "b": 1}',
        "vocab.txt": "a\nb\n",
        "merges.txt": "a b\n" * 9,
        "tokenizer.model": "\x00\n\n\n",
    }.items():
        path = tmp_path / name
        path.write_text(content)
        check_vocabulary(path, limits)
        if name not in ("merges.txt", "tokenizer.model"):
            few = replace(LIMITS, vocabulary=1)
            assert "it has 2" in refused(lambda path=path, few=few: check_vocabulary(path, few))
