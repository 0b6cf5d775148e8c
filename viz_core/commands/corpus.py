"""`corpus`: the training text, fetched and built."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from viz_core.training import corpus as corpora


def run(options: argparse.Namespace) -> None:
    """Fetches what isn't there yet, builds, and prints where the text lies."""
    folder: Path = options.folder or corpora.corpus_folder()

    def progress(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    packages = corpora.fetch(folder, progress)
    progress("building corpus.jsonl and heldout.jsonl")
    corpora.build(packages, folder / "corpus.jsonl")
    print(folder / "corpus.jsonl")
