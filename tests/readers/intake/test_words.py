"""Names of strangers, made fit to be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.intake.said import sentence
from viz_core.readers.intake.words import damaged, listed, shown, size

NASTY = ["\x1b[2Jx", "a\nb", "\u202egpj.exe", "\ud800", "a\x00b", "tab\t", "\u2028", "x" * 10**6]


@pytest.mark.parametrize("name", NASTY, ids=lambda name: ascii(name)[:12])
def test_no_name_leaves_its_line_or_its_place(name: str) -> None:
    text = shown(name)
    assert text.isprintable() and len(text) <= 82 and text[0] == text[-1] == "'"
    sentence(str(damaged(Path("f") / name.replace("\x00", ""), f"a thing called {text}", "no")))


def test_plain_names_stay_as_they_are() -> None:
    assert shown("größer model (1).pt") == "'größer model (1).pt'"
    assert shown(Path("a") / "b.pt") == "'a/b.pt'"
    assert shown([1, 2]) == "'[1, 2]'"
    long = "a" * 50 + "b" * 50 + ".safetensors"
    assert shown(long).startswith("'aaaa") and shown(long).endswith(".safetensors'")


def test_lists_and_sizes() -> None:
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed(list("abcdef"), 2) == "'a', 'b' and 4 more"
    assert [size(n) for n in (3, 2**10, 3 * 2**29, 2**51)] == [
        "3 bytes",
        "1.0 KiB",
        "1.5 GiB",
        "2048.0 TiB",
    ]
