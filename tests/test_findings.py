"""docs/findings.md: current, and chosen by the numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from viz_core import findings, results
from viz_core.commands import findings as command
from viz_core.findings import claims

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rows = results.shipped("signatures")
    return rows.assign(layer=pd.to_numeric(rows["layer"]))


def test_the_page_is_current(cli: Cli) -> None:
    assert command.PAGE.read_text("utf-8") == findings.current()
    assert cli("findings", "--check")[0] == 0


def test_another_page_is_noticed_and_made_anew(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "PAGE", tmp_path / "findings.md")
    status, _, error = cli("findings", "--check")
    assert status == 1 and "run `python -m viz_core findings`" in error
    assert cli("findings")[0] == 0 and cli("findings", "--check")[0] == 0


def test_without_results_the_sentence_says_what_to_run(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(results.shipped, "__defaults__", (tmp_path,))
    monkeypatch.setattr(results.portraits, "__defaults__", (tmp_path,))
    status, out, error = cli("findings")
    assert (status, out) == (1, "") and "make results" in error


def test_numbers_of_the_page_are_those_of_the_table(table: pd.DataFrame) -> None:
    page = findings.current()
    for name, statistic in (("t5", "stairs"), ("alibi", "stairs"), ("rope", "ripple")):
        rows = table[table["checkpoint"] == name]
        found = int((rows[f"{statistic}_p"] < 0.05).sum())
        assert f"{found} of {len(rows)}" in page
    error = table[table["checkpoint"] == "alibi"]["slope_error"].abs()
    assert f"by {error.median():.2%} (median" in page


def test_sentences_follow_the_numbers(table: pd.DataFrame) -> None:
    turned = table.assign(stairs_p=np.where(table["checkpoint"] == "t5", 0.5, table["stairs_p"]))
    assert "T5's bias: stairs in 0 of 32" in claims.stairs_within(turned).verdict
    louder = claims.sinks(table.assign(sink=0.5))
    assert re.match(r"192 of 192 heads give the first keys 30%", louder.verdict)
    formed = claims.kinds(table.assign(induction=0.9))
    assert "Some head matches prefixes" in formed.text
    moved = claims.moved(table.assign(shift=np.where(table["checkpoint"] == "t5", 0.4, 0.0)))
    assert "40% (T5 bias)" in moved.verdict and "Learned" not in moved.verdict


def test_the_plain_mean_is_measured_not_told() -> None:
    """With a profile that doesn't fall, no decay is reported."""
    kept = {name: k.portrait for name, k in results.portraits().items()}
    flat = replace(kept["nope"], probability=np.full_like(kept["nope"].probability, 0.01))
    assert "0.0000 nats" in claims.plain_mean(kept | {"nope": flat}).verdict
    assert "-0.0040 nats" in claims.plain_mean(kept).verdict
