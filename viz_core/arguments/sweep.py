"""The options of `sweep`: what it is of stands in its file."""

from __future__ import annotations

import argparse
from pathlib import Path

from viz_core.arguments import options


def add(one: argparse.ArgumentParser) -> None:
    """What `sweep` understands."""
    one.add_argument("spec", type=Path, metavar="SPEC.toml", help="see docs/sweeps.md")
    one.add_argument(
        "--executor",
        choices=("inline", "local", "slurm"),
        help="instead of the spec's: this process (its default), processes of this machine, or an "
        "array job of Slurm",
    )
    one.add_argument(
        "--workers", type=options.whole(1), metavar="K", help="processes of --executor local"
    )
    one.add_argument(
        "--look", action="store_true", help="compute nothing: the table of what there is by now"
    )
    one.add_argument("--out", type=Path, metavar="F", help="write the table as F.parquet or F.csv")
    one.add_argument(
        "--figures", type=Path, metavar="DIR", help="draw what there is as .pdf, into that folder"
    )
    options.as_json(one)
