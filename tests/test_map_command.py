"""`map` on a part of the map, by mean or largest, against the core."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from viz_core import attention, catalogue, texts, trace

Cli = Callable[..., tuple[int, str, str]]
ASK = ("map", "rope", "--length", 300, "--device", "cpu", "--json")


@pytest.fixture(scope="module")
def passed() -> trace.Trace:
    tokenizer = Tokenizer.from_file(str(catalogue.TOKENIZER))
    ids = texts.tokens("python-docs", 300, tokenizer).ids
    return trace.trace(catalogue.find("rope").load(), ids)


def test_a_part_by_the_largest(cli: Cli, passed: trace.Trace, tmp_path: Path) -> None:
    out = tmp_path / "part.npz"
    part = ("--rows", "200:300", "--columns", "0:90", "--pixels", 50, "--pooling", "max")
    about = json.loads(cli(*ASK, *part, "--out", out)[1])
    assert (about["rows"], about["columns"]) == ([200, 300], [0, 90])
    assert (about["cell"], about["pooling"], about["shape"]) == (2, "max", [4, 8, 50, 45])
    assert about["mean_row_sum"] is None  # of whole rows only
    with np.load(out) as kept:
        for layer in range(4):
            expected = attention.window(passed, layer, (200, 300), (0, 90), 50, pooling="max")
            np.testing.assert_array_equal(kept["log_probability"][layer], expected.value)
            np.testing.assert_array_equal(kept["count"], expected.count)


def test_whole_rows_still_sum_to_1(cli: Cli) -> None:
    about = json.loads(cli(*ASK, "--rows", "250:300")[1])
    assert about["columns"] == [0, 300] and about["cell"] == 1
    assert about["mean_row_sum"] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        (("--rows", "5"), 2, "a range such as 1024:2048"),
        (("--rows=-1:5",), 2, "a range such as 1024:2048"),
        (("--columns", "7:7"), 2, "first below the last"),
        (("--columns", "0:301"), 2, "between 0 and 300"),
        (("--pooling", "median"), 2, "median"),
    ],
)
def test_what_is_no_part_is_refused(
    cli: Cli, given: tuple[str, ...], status: int, words: str
) -> None:
    got, out, error = cli(*ASK, *given)
    assert (got, out) == (status, "") and words in error


def test_in_a_terminal_progress_is_shown_with_the_time_left() -> None:
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "viz_core", *map(str, ASK)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "maps: 100%" in shown and "left" in shown
    assert json.loads(done.stdout)["tokens"] == 300
