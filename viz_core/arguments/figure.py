"""The options of ready figures. Each figure takes some of them, and declares their defaults."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from viz_core.arguments.options import as_json, lengths, scaling, span, whole, words
from viz_core.errors import UsageError


def add(one: argparse.ArgumentParser) -> None:
    """Where a figure goes, what it is drawn for, and what it shows."""
    one.add_argument("name", nargs="?", metavar="NAME", help="staircase-ripples, decay-grid, ...")
    one.add_argument(
        "--from", dest="source", type=Path, metavar="F", help="draw again what this file shows"
    )
    one.add_argument(
        "--tray", type=Path, metavar="F.json", help="one figure of those pinned in this file"
    )
    one.add_argument(
        "--out", type=Path, metavar="F.pdf", help=".pdf .svg .png .pgf .html .csv .npz .tex .zip"
    )
    one.add_argument(
        "--gallery", type=Path, metavar="DIR", help="every figure's examples, and a page of them"
    )
    one.add_argument("--dpi", type=whole(36, 1200), default=300, metavar="D", help="of a .png")
    one.add_argument("--grey", action="store_true", help="a .png as it prints without colour")
    as_json(one)
    sheet = one.add_argument_group("what it is drawn for")
    sheet.add_argument("--venue", metavar="V", help="neurips (default), icml, acl, ieee, ...")
    sheet.add_argument("--columns", type=whole(1, 2), metavar="N", help="1 (default) or 2")
    sheet.add_argument("--width", metavar="W", help="instead of a venue's: 88mm, 3.5in, 252pt")
    sheet.add_argument("--across", type=whole(1, 26), metavar="N", help="at most so many in a row")
    sheet.add_argument("--language", metavar="G", help="of its words: en (default) or zh")
    shown(one)


def shown(one: argparse.ArgumentParser) -> None:
    """What a figure shows: every plate takes some of these, under the same names."""
    scaling(one)
    what = one.add_argument_group("what it shows, as far as the figure has it")
    what.add_argument("--pins", type=words, metavar="P,P,...", help="figures of a tray")
    what.add_argument("--checkpoints", type=words, metavar="C,C,...", help="shipped ids, or paths")
    what.add_argument(
        "--places",
        type=words,
        metavar="C.L.H,...",
        help="single heads: checkpoint, layer and head, as in alibi.3.2,rope.3.1",
    )
    what.add_argument("--layer", type=whole(1), metavar="L", help="one layer")
    what.add_argument("--layers", type=lengths, metavar="L,L,...", help="several layers")
    what.add_argument("--heads", type=lengths, metavar="H,H,...", help="heads of the first one")
    what.add_argument("--other-heads", type=lengths, metavar="H,H,...", help="of the second one")
    what.add_argument("--length", type=whole(2), metavar="N", help="in tokens")
    what.add_argument("--text", metavar="ID", help="heldout, python-docs, prose, ...")
    what.add_argument("--texts", type=whole(1, 64), metavar="K", help="passages of the text")
    what.add_argument("--table", metavar="F", help="of a sweep, from its --out; else shipped")
    _maps(what)
    _curves(what)
    _losses(what)
    _formulas(what)


def _maps(what: argparse._ArgumentGroup) -> None:
    what.add_argument("--view", choices=("log", "centred", "probability"), help="of maps")
    what.add_argument("--pooling", choices=("mean", "max"), help="of cells, in a single text")
    what.add_argument(
        "--marks", choices=("yes", "no"), help="fine lines where stairs, crests and the sink are"
    )
    what.add_argument("--map-scale", choices=("log", "linear"), help="of colours")
    for name, of in (("queries", "rows"), ("keys", "columns")):
        what.add_argument(
            f"--{name}", type=_spans, metavar="A:B", help=f"{of} from A on and before B, from 0"
        )


def _curves(what: argparse._ArgumentGroup) -> None:
    what.add_argument("--x-scale", choices=("linear", "log"), help="of distances")
    what.add_argument(
        "--estimator",
        choices=("row-fixed-effects", "mean-logit", "mean-probability"),
        help="of curves by distance",
    )
    what.add_argument("--sink", choices=("out", "in"), help="the first keys, in curves")
    what.add_argument("--laws", choices=("yes", "no"), help="each encoding's own, with its curves")


def _losses(what: argparse._ArgumentGroup) -> None:
    what.add_argument(
        "--protocol",
        choices=("fixed-targets", "non-overlapping", "sliding-window"),
        help="of losses",
    )
    what.add_argument("--measure", choices=("perplexity", "loss", "difference"), help="of losses")


def _formulas(what: argparse._ArgumentGroup) -> None:
    what.add_argument(
        "--encodings",
        type=words,
        metavar="E,E,...",
        help="without checkpoints: alibi, rope:theta=500000, rope:scaling=yarn:factor=4, ...",
    )
    what.add_argument("--model-heads", type=whole(1, 64), metavar="H", help="heads in all")
    what.add_argument("--head-width", type=whole(1, 256), metavar="D", help="channels of a head")
    what.add_argument("--trained-length", type=whole(16, 131_072), metavar="L", help="in tokens")


def _spans(text: str) -> list[str]:
    """Ranges with commas between, as they came, once each is known to be one."""
    for part in text.split(","):
        first, last = span(part)
        if len(part) > 17 or first >= last:
            raise argparse.ArgumentTypeError(
                f"expected a range such as 512:768, the first below the last; got {part[:40]!r}"
            )
    return text.split(",")


def read(given: Mapping[str, str]) -> dict[str, Any]:
    """The values of options of `shown` by name, from their words. Raises UsageError for a word
    that isn't one of its option's; names are known to be those of options."""
    parser = _Strict(add_help=False, allow_abbrev=False)
    shown(parser)
    found = parser.parse_args([f"--{n.replace('_', '-')}={word}" for n, word in given.items()])
    return {name: getattr(found, name) for name in given}


class _Strict(argparse.ArgumentParser):
    """A parser that raises where argparse would end the program."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:200]}.")
