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
from viz_core.findings import claims, grids, losses, used

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


@pytest.fixture(scope="module")
def reaches() -> pd.DataFrame:
    return results.shipped("attribution-distance")


@pytest.fixture(scope="module")
def heads() -> pd.DataFrame:
    return results.shipped("attribution-heads")


def changed(table: pd.DataFrame, value: float, **of: object) -> pd.DataFrame:
    """`table` with the difference `value`, give or take 0.001, in the rows that are `of` this."""
    rows = pd.Series(True, index=table.index)
    for column, wanted in of.items():
        rows &= table[column] == wanted
    new = table.copy()
    for column, shift in (("", 0.0), ("_low", -0.001), ("_high", 0.001)):
        new.loc[rows, f"difference{column}"] = value + shift
    return new


def test_losses_on_the_page_are_those_of_the_tables(
    reaches: pd.DataFrame, heads: pd.DataFrame
) -> None:
    page = findings.current()
    cut = losses.cut(reaches, "rope", 1024, 512, losses.BEYOND)
    assert f"changes by {cut['difference']:+.3f} ({cut['difference_low']:+.3f} to" in page
    for checkpoint in losses.names(heads):
        for row in losses.single(heads, checkpoint, 512, losses.FAR, "zero").itertuples():
            line = next(
                x for x in page.splitlines() if f"| {claims.name(checkpoint)}, {row.layer} |" in x
            )
            cell = line.split("|")[1 + row.head].strip()
            assert float(cell.strip("*").replace("−", "-")) == pytest.approx(
                1000 * row.difference, abs=0.051
            )
            assert cell.startswith("**") == (row.difference_low > 0)


def test_what_far_attention_is_worth_follows_the_numbers(reaches: pd.DataFrame) -> None:
    of = {"checkpoint": "rope", "length": 512, "reach": 128, "kept": 0, "place": "far"}
    for value, words in ((0.0005, "Not measurably"), (0.005, "Hardly"), (0.2, "Yes")):
        found = used.far_ripples(changed(reaches, value, **of))
        assert found.verdict.startswith(f"{words}: without attention past 128 tokens")
        assert f"{value:+.3f} (" in found.verdict
        assert (f"RoPE {value:+.3f}" in found.text) == (value == 0.2)
    longer = used.far_ripples(changed(reaches, 0.2, **of))
    assert "RoPE 256" in longer.text


def test_whether_unseen_distances_are_to_blame_follows_the_numbers(reaches: pd.DataFrame) -> None:
    of = {"checkpoint": "rope", "length": 1024, "reach": 512, "kept": 0, "place": "beyond"}
    assert used.unseen_distances(reaches).verdict.startswith("Yes")
    assert used.unseen_distances(reaches).text.endswith("not helped by it: Sinusoidal.")
    without = used.unseen_distances(changed(reaches, 0.0, **of))
    assert without.verdict.startswith("Not shown")
    assert without.text.endswith("not helped by it: RoPE and Sinusoidal.")


def test_what_alibis_last_head_buys_follows_the_numbers(
    reaches: pd.DataFrame, heads: pd.DataFrame
) -> None:
    of = {"checkpoint": "alibi", "length": 512, "head": "8", "replacement": "zero", "place": "far"}
    found = used.flattest_head(reaches, changed(heads, 0.3, **of))
    assert found.claim == "ALiBi's head 8 buys long range"
    assert found.verdict.startswith("At most 0.300 nats")
    assert "in 4 of 4 layers" in found.text and "hardly used" in found.text
    cut = {"checkpoint": "alibi", "length": 512, "reach": 128, "kept": 0, "place": "far"}
    assert "hardly used" not in used.flattest_head(changed(reaches, 0.2, **cut), heads).text


def test_what_position_alone_keeps_follows_the_numbers(
    reaches: pd.DataFrame, heads: pd.DataFrame
) -> None:
    of = {"checkpoint": "rope", "length": 512, "layer": "all", "place": "far"}
    table = changed(heads, 2.0, replacement="zero", **of)
    table = changed(table, 0.5, replacement="position", **of)
    found = used.position_alone(reaches, changed(table, 0.52, replacement="uniform", **of))
    assert found.verdict.startswith("75% of it in RoPE")
    assert "RoPE 75% (74%)" in found.text
    assert "In NoPE and RoPE both are alike" in found.text


def test_both_tables_have_a_row_for_each_encoding(
    reaches: pd.DataFrame, heads: pd.DataFrame
) -> None:
    lines = grids.every(reaches, heads)
    assert sum(line.startswith("| RoPE |") for line in lines) == 2
    assert sum(line.startswith("| Learned |") for line in lines) == 1  # no value past its end
    assert sum(line.startswith("| Learned, ") for line in lines) == 4
