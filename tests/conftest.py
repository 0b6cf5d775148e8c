"""What the tests of several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from viz_core.__main__ import main

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session", autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests compute, they and their servers keep in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATLAS_STORE", str(tmp_path_factory.mktemp("store")))
        yield


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
