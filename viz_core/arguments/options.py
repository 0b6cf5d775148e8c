"""Options that several commands share, and the types of their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from viz_core.words import say


def run(one: argparse.ArgumentParser) -> None:
    """One checkpoint, one length, one text: `map`, `decay`."""
    one.add_argument("checkpoint", metavar="CHECKPOINT", help="a shipped id, or a path")
    one.add_argument("--length", type=int, required=True, metavar="N", help="in tokens")
    text = one.add_mutually_exclusive_group()
    text.add_argument("--text", default="python-docs", metavar="ID", help="default: python-docs")
    text.add_argument("--text-file", type=Path, metavar="PATH", help="your own text, UTF-8")
    one.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    as_json(one)


def by_length(one: argparse.ArgumentParser) -> None:
    """Several checkpoints at several lengths."""
    one.add_argument("checkpoints", nargs="+", metavar="CHECKPOINT", help="shipped ids, or paths")
    one.add_argument("--lengths", type=lengths, required=True, metavar="N,N,...", help="in tokens")
    scaling(one)
    text = one.add_mutually_exclusive_group()
    text.add_argument(
        "--text", default="heldout", metavar="ID", help="default: heldout, fetched if need be"
    )
    text.add_argument("--text-file", type=Path, metavar="PATH", help="your own text, UTF-8")


def rows(one: argparse.ArgumentParser) -> None:
    """Where a table of rows goes."""
    one.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    one.add_argument("--out", type=Path, metavar="F.csv", help="write the rows as a table")
    as_json(one)


def scaling(one: argparse.ArgumentParser) -> None:
    """Settings of the encoding."""
    one.add_argument(
        "--scaling",
        type=words,
        metavar="S,S,...",
        help="without retraining: none, linear:4 (PI), ntk:4, dynamic, yarn:4, llama3:4, "
        "theta:50000 of RoPE (linear:fit: s = N / L); exponent:6 of ALiBi",
    )


def as_json(one: argparse.ArgumentParser) -> None:
    """The choice of JSON."""
    one.add_argument("--json", action="store_true", help="one JSON document on standard output")


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """A whole number from `low` on (to `high`)."""

    def whole(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if number < low or (high is not None and number > high):
            facts = {"low": low, "high": high, "text": text}
            if high is None:
                words = say("expected a whole number from {low} on; got {text!r}", **facts)
            else:
                words = say("expected a whole number from {low} to {high:,}; got {text!r}", **facts)
            raise argparse.ArgumentTypeError(words)
        return number

    return whole


def span(text: str) -> tuple[int, int]:
    """Two whole numbers with a colon between."""
    first, colon, last = text.partition(":")
    if not (colon and first.isdecimal() and last.isdecimal()):
        raise argparse.ArgumentTypeError(
            say("expected a range such as 1024:2048; got {text!r}", text=text)
        )
    return int(first), int(last)


def lengths(text: str) -> list[int]:
    """Lengths in tokens with commas between."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError(
            say(
                "expected whole numbers from 1 on, with commas between, as in 512,1024; got "
                "{text!r}",
                text=text,
            )
        )
    return numbers


def shares(text: str) -> list[float]:
    """Shares of a whole with commas between."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = [-1.0]
    if not all(0 <= number <= 1 for number in numbers):
        raise argparse.ArgumentTypeError(
            say(
                "expected numbers from 0 to 1, with commas between, as in 0.1,0.3,1; got {text!r}",
                text=text,
            )
        )
    return numbers


def words(text: str) -> list[str]:
    """Words with commas between."""
    return [part.strip() for part in text.split(",")]


def named(text: str) -> tuple[str, str]:
    """A name and a value with an equals sign between."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(
            say("expected NAME=VALUE, as in heads=8; got {text!r}", text=text)
        )
    return name, value
