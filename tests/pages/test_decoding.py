"""Parts of an address: numbers and names within bounds, a sentence for each that isn't."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pages._shared.decoding import SAID, Asked, number


@dataclass(frozen=True)
class State:
    length: int = 64
    view: str = "mean"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", 7),
        ("0007", 7),
        ("1", 1),
        ("99", 99),
        ("0", None),
        ("100", None),
        ("-7", None),
        ("+7", None),
        (" 7", None),
        ("7.0", None),
        ("\u0667", None),  # a digit, but not of ours
        ("", None),
        ("0" * 9 + "7", None),
        ("9" * 5000, None),
    ],
)
def test_a_number_is_a_few_digits_within_bounds(text: str, expected: int | None) -> None:
    assert number(text, 1, 99) == expected


def test_what_is_missing_stands_as_the_page_starts_and_says_nothing() -> None:
    asked = Asked({}, State())
    assert (asked.whole("length", 1, 99), asked.among("view", ("mean", "one"))) == (64, "mean")
    assert asked.whole("length", 1, 8, 8) == 8  # by another part of the address
    assert asked.wrong == []


def test_what_is_wrong_stands_as_the_page_starts_and_is_said_in_short() -> None:
    asked = Asked({"length": "x" * 5000, "view": "none"}, State())
    assert (asked.whole("length", 1, 99), asked.among("view", ("mean", "one"))) == (64, "mean")
    assert asked.wrong == [
        "Expected length in the address to be a number from 1 to 99; got "
        f"'{'x' * SAID}', so 64 is shown.",
        "Expected view in the address among mean, one; got 'none', so mean is shown.",
    ]
