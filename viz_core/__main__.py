"""`python -m viz_core`: the same work without a browser. The commands are in `commands/`."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from viz_core.arguments import parser
from viz_core.errors import AtlasError


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status: 0, 1 (could not), 2 (wrong usage).

    Raises SystemExit from argparse (0 for help, 2 for wrong usage). Errors that a person can do
    something about are one line on standard error; any other exception is a bug and is raised.
    """
    options = parser().parse_args(argv)
    try:
        with _finding(options.own_encodings):
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


@contextmanager
def _finding(folder: Path | None) -> Iterator[None]:
    """Encodings are found in `folder` too: here, and by processes that are started here."""
    before = os.environ.get("ATLAS_ENCODINGS")
    if folder is not None:
        os.environ["ATLAS_ENCODINGS"] = str(folder.expanduser().resolve())
    try:
        yield
    finally:
        if folder is not None:
            os.environ.pop("ATLAS_ENCODINGS")
            os.environ |= {} if before is None else {"ATLAS_ENCODINGS": before}


if __name__ == "__main__":
    sys.exit(main())
