"""`corpus`: the training text, fetched and built."""

from __future__ import annotations

import argparse

from viz_core.commands import _shared
from viz_core.training import corpus


def run(options: argparse.Namespace) -> None:
    """Fetches what isn't there yet, builds, and prints where the text lies."""
    print(_shared.fetch_corpus(options.folder or corpus.corpus_folder()))
