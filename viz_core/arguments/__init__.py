"""What `python -m viz_core` understands: each command and its options. Imports no torch."""

from __future__ import annotations

import argparse
from pathlib import Path

from viz_core.arguments import attribute, figure, options, sweep

MOST_PIXELS = 4096  # a side of a map's cells: more is no picture, and N x N is never held


def parser() -> argparse.ArgumentParser:
    """All commands and their options; builds in no time, torch is imported by the commands."""
    top = argparse.ArgumentParser(
        prog="python -m viz_core",
        description="How trained Transformers attend by position: train, map, measure.",
        epilog="Exit status: 0 done, 1 could not, 2 wrong usage. Results go to standard output, "
        "progress and errors to standard error.",
    )
    top.add_argument(
        "--encodings",
        dest="own_encodings",
        type=Path,
        metavar="FOLDER",
        help="before the command: encodings of your own, a NAME.py each, which is run (default: "
        "$ATLAS_ENCODINGS); see docs/your-own-encoding.md",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    one = commands.add_parser("list", help="the shipped checkpoints")
    options.as_json(one)

    one = commands.add_parser(
        "inspect",
        help="what a checkpoint is: sizes, encoding, and how each was found out",
        description="Sizes and encoding of a checkpoint, held against its weights: ours, a state "
        "dict from a script, or a Hugging Face folder. What a state dict leaves open is listed "
        "with the value that was taken.",
    )
    one.add_argument("checkpoint", metavar="CHECKPOINT", help="a shipped id, or a path")
    one.add_argument(
        "--answer",
        action="append",
        default=[],
        type=options.named,
        metavar="NAME=VALUE",
        help="to one of its questions, such as heads=8; may be given again",
    )
    options.as_json(one)

    one = commands.add_parser("train", help="train a checkpoint; goes on where it was stopped")
    one.add_argument("encoding", metavar="ENCODING", help="nope, sinusoidal, alibi, rope, ...")
    one.add_argument("--recipe", default="shipped", metavar="NAME", help="default: shipped")
    one.add_argument(
        "--with",
        action="append",
        default=[],
        dest="replaced",
        metavar="NAME=VALUE",
        help="a number in place of the recipe's, such as seed=1 or rate=0.01; may be given again",
    )
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
    one.add_argument(
        "--keep",
        type=options.shares,
        default=[],
        metavar="S,S,...",
        help="also keep the weights at these shares of the training, as in 0,0.1,0.3,1: "
        "DIR/step-NUMBER.safetensors",
    )

    one = commands.add_parser(
        "card",
        help="model cards: the README.md beside a checkpoint, from its data",
        description="Writes the README.md beside each checkpoint from what the checkpoint, its "
        "training.csv and the tables of results say; prints the paths.",
    )
    one.add_argument(
        "checkpoints", nargs="*", metavar="CHECKPOINT", help="default: all that are shipped"
    )
    one.add_argument(
        "--check", action="store_true", help="write nothing; exit status 1 if a card differs"
    )

    one = commands.add_parser(
        "map",
        help="attention maps of one text",
        description="Attention maps of one text, all layers and heads unless chosen. Each cell "
        "is the mean probability over the token pairs it covers. Layers and heads are counted "
        "from 1 here and in the JSON; arrays are in that order.",
    )
    options.run(one)
    one.add_argument("--layer", type=int, metavar="L", help="one layer, counted from 1")
    one.add_argument("--head", type=int, metavar="H", help="one head, counted from 1")
    one.add_argument(
        "--pixels",
        type=options.whole(1, MOST_PIXELS),
        default=512,
        metavar="P",
        help="most cells on a side (default 512); from the length on, each cell is one pair",
    )
    for name, what in (("rows", "queries"), ("columns", "keys")):
        one.add_argument(
            f"--{name}",
            type=options.span,
            metavar="A:B",
            help=f"a part of the map: {what} from A on and before B, counted from 0",
        )
    one.add_argument(
        "--pooling",
        choices=("mean", "max"),
        default="mean",
        help="what a cell says of its pairs: their mean probability (default) or the largest",
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
    options.run(one)
    one.add_argument(
        "--texts", type=options.whole(1, 64), metavar="K", help="passages of the text (default 8)"
    )
    one.add_argument("--layer", type=int, metavar="L", help="one layer, counted from 1")
    one.add_argument(
        "--sink",
        type=options.whole(0),
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

    one = commands.add_parser(
        "probes",
        help="has each checkpoint learnt to use position?",
        description="Per checkpoint, the best previous-token head and the best induction head, "
        "each with what uniform attention would score, and the loss early and late in its trained "
        "length. Passed: a score of 5 times its baseline, and a loss at positions 256-511 more "
        "than 0.2 nats below that at 1-15. Layers and heads are counted from 1.",
    )
    one.add_argument("checkpoints", nargs="*", metavar="CHECKPOINT", help="default: all shipped")
    options.rows(one)

    one = commands.add_parser(
        "signatures",
        help="every statistic of every head, with its null",
        description="Per layer and head (counted from 1), over several texts: slope, reach, "
        "stairs, ripple, the share of position, kind, entropy and the change when all positions "
        "move, each with its null: a p-value, or what uniform attention or random waves have.",
    )
    one.add_argument("checkpoints", nargs="*", metavar="CHECKPOINT", help="default: all shipped")
    one.add_argument(
        "--length", type=options.whole(64), metavar="N", help="default: the trained length"
    )
    one.add_argument(
        "--text", default="heldout", metavar="ID", help="default: heldout, fetched if need be"
    )
    one.add_argument(
        "--texts", type=options.whole(1, 64), metavar="K", help="passages (default 16)"
    )
    one.add_argument(
        "--scaling", metavar="S", help="one setting of the encoding, as in `perplexity`"
    )
    one.add_argument(
        "--curves", type=Path, metavar="DIR", help="also write portrait-ID.safetensors there"
    )
    options.rows(one)

    one = commands.add_parser(
        "mechanism",
        help="what attention does as the text grows: entropy, sink, distance",
        description="Means over the last 256 queries of some texts and over heads, per layer and "
        "over all layers. Texts end at the same token at every length. Entropy in nats and as a "
        "share of ln(i + 1); mean distance in tokens and as a share of the uniform i / 2; the "
        "probability of the first 4 keys, and of keys beyond the trained length; for RoPE, the "
        "share of angles that training never showed.",
    )
    options.by_length(one)
    one.add_argument(
        "--texts", type=options.whole(1, 64), metavar="K", help="passages of the text (default 4)"
    )
    options.rows(one)

    one = commands.add_parser(
        "perplexity",
        help="losses by length, by protocol",
        description="Losses in nats per token at several lengths, with 95 % intervals over "
        "documents. Protocols: fixed-targets (the same tokens at every length, with more or less "
        "before them), non-overlapping, sliding-window, per-position. What is computed is kept: a "
        "run that was stopped goes on where it was.",
    )
    one.add_argument(
        "--protocol",
        choices=("fixed-targets", "non-overlapping", "sliding-window", "per-position"),
        default="fixed-targets",
        help="default: fixed-targets",
    )
    options.by_length(one)
    one.add_argument(
        "--documents",
        type=options.whole(1),
        metavar="K",
        help="as many (default: all; 8 of one text)",
    )
    one.add_argument("--by-source", action="store_true", help="rows for each source, too")
    options.rows(one)

    one = commands.add_parser(
        "attribute",
        help="what predictions need: of tokens, attention, heads, distance",
        description="What attention shows and what a prediction uses are two things. To tokens and "
        "to the pattern: signed parts of one number, in nats, by captum. To heads and to distance: "
        "losses in nats per token with a part of attention replaced or cut, near (positions 1 to "
        "L / 8), far (the second half of the trained length L) and beyond it. Layers and heads are "
        "counted from 1, and arrays are in that order.",
    )
    attribute.add(one)

    one = commands.add_parser(
        "figure",
        help="a figure for a paper, or one drawn again from its own file",
        description="A ready figure at a venue's exact width, with where it comes from in the file "
        "and in a .json beside it. Without a NAME, what figures there are and the options of each. "
        "Layers and heads are counted from 1.",
    )
    figure.add(one)

    one = commands.add_parser(
        "sweep",
        help="many checkpoints, settings, lengths and texts; here, in processes, on Slurm",
        description="Maps, curves, statistics of heads and losses of every checkpoint x setting x "
        "text x length that a file names, as one table. What is computed is kept: running it "
        "again computes only what is missing. Exit status 1 if a cell has failed.",
    )
    sweep.add(one)

    one = commands.add_parser("findings", help="docs/findings.md, from the shipped results")
    one.add_argument("--check", action="store_true", help="only say whether it is current")

    one = commands.add_parser("corpus", help="fetch and build the training text")
    one.add_argument(
        "--folder", type=Path, metavar="DIR", help="default: $ATLAS_CORPUS, or else corpus/"
    )
    return top
