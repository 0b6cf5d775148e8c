"""The options of ready figures. Each figure takes some of them, and declares their defaults."""

from __future__ import annotations

import argparse
from pathlib import Path

from viz_core.arguments.options import as_json, lengths, scaling, whole, words


def add(one: argparse.ArgumentParser) -> None:
    """Where a figure goes, what it is drawn for, and what it shows."""
    one.add_argument("name", nargs="?", metavar="NAME", help="staircase-ripples, decay-grid, ...")
    one.add_argument(
        "--from", dest="source", type=Path, metavar="F", help="draw again what this file shows"
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
    scaling(one)
    what = one.add_argument_group("what it shows, as far as the figure has it")
    what.add_argument("--checkpoints", type=words, metavar="C,C,...", help="shipped ids, or paths")
    what.add_argument("--layer", type=whole(1), metavar="L", help="one layer")
    what.add_argument("--layers", type=lengths, metavar="L,L,...", help="several layers")
    what.add_argument("--heads", type=lengths, metavar="H,H,...", help="heads of the first one")
    what.add_argument("--other-heads", type=lengths, metavar="H,H,...", help="of the second one")
    what.add_argument("--length", type=whole(64), metavar="N", help="in tokens")
    what.add_argument("--text", metavar="ID", help="heldout, python-docs, prose, ...")
    what.add_argument("--texts", type=whole(1, 64), metavar="K", help="passages of the text")
    what.add_argument("--view", choices=("log", "centred", "probability"), help="of maps")
    what.add_argument(
        "--protocol",
        choices=("fixed-targets", "non-overlapping", "sliding-window"),
        help="of losses",
    )
    what.add_argument("--measure", choices=("perplexity", "loss", "difference"), help="of losses")
