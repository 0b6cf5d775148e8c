"""`findings`: docs/findings.md, from the shipped results; or a check of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from viz_core import findings
from viz_core.commands import _shared
from viz_core.errors import AtlasError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "findings.md"


def run(options: argparse.Namespace) -> None:
    """Writes the page and prints its path; with --check, AtlasError where it differs."""
    text = findings.current()
    if not options.check:
        with _shared.written(PAGE) as file:
            file.write(text.encode())
        print(PAGE)
    elif not PAGE.is_file() or PAGE.read_text("utf-8") != text:
        raise AtlasError(
            "Expected docs/findings.md to say what the results say; it differs, so run "
            "`python -m viz_core findings`."
        )
