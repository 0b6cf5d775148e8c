"""`python -m viz_core`: the same work without a browser. The commands are in `commands/`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from viz_core.errors import AtlasError

MOST_PIXELS = 4096  # a side of a map's cells: more is no picture, and N x N is never held


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status: 0, 1 (could not), 2 (wrong usage).

    Raises SystemExit from argparse (0 for help, 2 for wrong usage). Errors that a person can do
    something about are one line on standard error; any other exception is a bug and is raised.
    """
    options = parser().parse_args(argv)
    try:
        importlib.import_module(f"viz_core.commands.{options.command}").run(options)
        sys.stdout.flush()
    except AtlasError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print("error: Stopped before the end.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader has had enough: `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """All commands and their options; builds in no time, torch is imported by the commands."""
    top = argparse.ArgumentParser(
        prog="python -m viz_core",
        description="How trained Transformers attend by position: train, map, measure.",
        epilog="Exit status: 0 done, 1 could not, 2 wrong usage. Results go to standard output, "
        "progress and errors to standard error.",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    one = commands.add_parser("list", help="the shipped checkpoints")
    _json(one)

    one = commands.add_parser("train", help="train a checkpoint; goes on where it was stopped")
    one.add_argument("encoding", metavar="ENCODING", help="nope, sinusoidal, alibi, rope, ...")
    one.add_argument("--recipe", default="shipped", metavar="NAME", help="default: shipped")
    one.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="default: checkpoints/ENCODING, or checkpoints/ENCODING-RECIPE for other recipes",
    )
    one.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the encoding, such as theta=500000; may be given again",
    )
    one.add_argument("--again", action="store_true", help="replace a checkpoint that is finished")

    one = commands.add_parser(
        "map",
        help="attention maps of one text",
        description="Attention maps of one text, all layers and heads unless chosen. Each cell "
        "is the mean probability over the token pairs it covers. Layers and heads are counted "
        "from 1 here and in the JSON; arrays are in that order.",
    )
    _run(one)
    one.add_argument("--layer", type=int, metavar="L", help="one layer, counted from 1")
    one.add_argument("--head", type=int, metavar="H", help="one head, counted from 1")
    one.add_argument(
        "--pixels",
        type=_whole(1, MOST_PIXELS),
        default=512,
        metavar="P",
        help="most cells on a side (default 512); from the length on, each cell is one pair",
    )
    one.add_argument("--repeat", action="store_true", help="repeat a text that is too short")
    one.add_argument(
        "--out",
        type=Path,
        metavar="F.npz",
        help="write log_probability [layer, head, query, key] (nats), count, rows, columns, cell "
        "and about (the JSON)",
    )

    one = commands.add_parser(
        "decay",
        help="attention by distance, over several texts",
        description="Attention by distance, as a mean over passages of a text, and each head's "
        "slope in nats per token (row-fixed-effects fit). Layers and heads are counted from 1.",
    )
    _run(one)
    one.add_argument(
        "--texts", type=_whole(1, 64), metavar="K", help="passages of the text (default 8)"
    )
    one.add_argument("--layer", type=int, metavar="L", help="one layer, counted from 1")
    one.add_argument(
        "--sink",
        type=_whole(0),
        default=4,
        metavar="S",
        help="first keys left out, which draw attention for being first (default 4)",
    )
    one.add_argument(
        "--estimator",
        choices=("row-fixed-effects", "mean-probability"),
        default="row-fixed-effects",
        help="of the curve; mean-probability is the plain mean, and biased: see the JSON",
    )
    one.add_argument("--out", type=Path, metavar="F.csv", help="write the curves as a table")

    one = commands.add_parser("corpus", help="fetch and build the training text")
    one.add_argument(
        "--folder", type=Path, metavar="DIR", help="default: $ATLAS_CORPUS, or else corpus/"
    )
    return top


def _run(one: argparse.ArgumentParser) -> None:
    one.add_argument("checkpoint", metavar="CHECKPOINT", help="a shipped id, or a path")
    one.add_argument("--length", type=int, required=True, metavar="N", help="in tokens")
    text = one.add_mutually_exclusive_group()
    text.add_argument("--text", default="python-docs", metavar="ID", help="default: python-docs")
    text.add_argument("--text-file", type=Path, metavar="PATH", help="your own text, UTF-8")
    one.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    _json(one)


def _json(one: argparse.ArgumentParser) -> None:
    one.add_argument("--json", action="store_true", help="one JSON document on standard output")


def _whole(low: int, high: int | None = None) -> Callable[[str], int]:
    def whole(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if number < low or (high is not None and number > high):
            end = "on" if high is None else f"to {high:,}"
            raise argparse.ArgumentTypeError(
                f"expected a whole number from {low} {end}; got {text!r}"
            )
        return number

    return whole


if __name__ == "__main__":
    sys.exit(main())
