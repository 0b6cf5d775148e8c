"""The options of `attribute`: four questions that share a checkpoint, a length and a text."""

from __future__ import annotations

import argparse
from pathlib import Path

from viz_core.arguments import options

ANSWERS = ("tokens", "pattern", "heads", "distance")


def add(one: argparse.ArgumentParser) -> None:
    """What `attribute` understands; the command refuses options of another `--to`."""
    one.add_argument(
        "checkpoints",
        nargs="+",
        metavar="CHECKPOINT",
        help="a shipped id, or a path; several with --to heads and --to distance",
    )
    one.add_argument(
        "--to",
        choices=ANSWERS,
        default="tokens",
        help="tokens (default) or pattern: what one prediction needs, of the text's tokens or of "
        "each head's attention; heads: the loss with each head replaced; distance: the loss with "
        "attention beyond each distance cut",
    )
    one.add_argument(
        "--length",
        "--lengths",
        dest="lengths",
        type=options.lengths,
        required=True,
        metavar="N",
        help="in tokens; several, with commas between, with --to heads and --to distance",
    )
    place = one.add_mutually_exclusive_group()
    place.add_argument(
        "--target",
        type=options.whole(0),
        metavar="P",
        help="the query whose prediction of the next token is explained, counted from 0 (default: "
        "the last one that a token of the text follows); at the text's last token, of the token "
        "that the model finds likeliest",
    )
    place.add_argument(
        "--targets", type=options.span, metavar="A:B", help="the mean over queries A to B - 1"
    )
    one.add_argument(
        "--method",
        choices=(
            "integrated-gradients",
            "gradient-x-activation",
            "occlusion",
            "feature-ablation",
        ),
        help="to tokens (default: integrated-gradients)",
    )
    one.add_argument("--token", metavar="WORD", help="default: the token that follows in the text")
    number = one.add_mutually_exclusive_group()
    number.add_argument(
        "--kind",
        choices=("log-probability", "logit"),
        help="what is explained of the token (default: log-probability)",
    )
    number.add_argument(
        "--against", metavar="WORD", help="or the difference of its logit from that of this token"
    )
    one.add_argument(
        "--steps",
        type=options.whole(1, 1000),
        metavar="S",
        help="of integrated gradients (default 50)",
    )
    one.add_argument("--layer", type=int, metavar="L", help="one layer's pattern, counted from 1")
    one.add_argument(
        "--texts",
        type=options.whole(1, 64),
        metavar="K",
        help="passages of the text, with --to heads and --to distance (default 8)",
    )
    one.add_argument("--scaling", metavar="S", help="one setting of the encoding, as in `map`")
    text = one.add_mutually_exclusive_group()
    text.add_argument(
        "--text",
        metavar="ID",
        help="default: python-docs; with --to heads and --to distance heldout, fetched if need be",
    )
    text.add_argument("--text-file", type=Path, metavar="PATH", help="your own text, UTF-8")
    one.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    one.add_argument(
        "--out",
        type=Path,
        metavar="F",
        help="write the rows as a table, F.csv; the pattern's arrays as F.npz: value [layer, head, "
        "query, key], by_distance and attention [layer, head, distance], layers and about",
    )
    options.as_json(one)
