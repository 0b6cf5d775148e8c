"""What the tests of several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from viz_core.__main__ import main

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command here as the process would: (exit status, standard output, standard error)."""

    def run(*argv: object) -> tuple[int, str, str]:
        words = [str(a) for a in argv]
        monkeypatch.setattr(sys, "argv", ["viz_core", *words])
        try:
            status = main(words)
        except SystemExit as stop:
            status = int(stop.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run
