"""`card`: the README.md beside each checkpoint, from its data; or a check of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from viz_core import cards
from viz_core.catalogue import Checkpoint
from viz_core.commands import _shared
from viz_core.errors import AtlasError, UsageError


def run(options: argparse.Namespace) -> None:
    """Writes each card and prints its path; with --check, AtlasError for the first that differs."""
    chosen = _shared.checkpoints(options.checkpoints)
    written = [(_place(checkpoint), cards.current(checkpoint)) for checkpoint in chosen]
    for path, text in written:
        now = _read(path)
        if options.check:
            if now != text:
                state = "is missing" if now is None else "differs"
                raise AtlasError(
                    f"Expected {path.parent.name}/README.md to say what its data say; it {state}, "
                    "so run `python -m viz_core card`."
                )
        elif now is not None and cards.MARK not in now:
            raise AtlasError(
                f"Expected no file or a model card at {path}; got another file, so move it away."
            )
        else:
            with _shared.written(path) as file:
                file.write(text.encode())
            print(path)


def _place(checkpoint: Checkpoint) -> Path:
    """Where the card belongs: a folder holds one README.md, and so one checkpoint."""
    if checkpoint.path.name != "model.safetensors":
        raise UsageError(
            "Expected a checkpoint called model.safetensors, in a folder of its own; got "
            f"{checkpoint.path.name}."
        )
    return checkpoint.path.with_name("README.md")


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace") if path.exists() else None
    except OSError as error:
        raise AtlasError(f"Could not read {path} ({error.strerror}).") from None
