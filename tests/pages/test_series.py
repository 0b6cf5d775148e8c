"""From tables to curves: order, names, colours, and cells that are empty."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pages._shared import tables
from viz_core import results, series
from viz_core.errors import AtlasError
from viz_core.perplexity import Row


def test_curves_come_in_the_order_of_all_lists_with_rising_lengths(tables_folder: Path) -> None:
    rows = series.rows_of(tables.shipped("perplexity"), "fixed-targets", "heldout")
    found = series.curves(rows.sample(frac=1, random_state=0))
    assert [s.accent for s in found] == list(series.ORDER)
    for s in found:
        assert s.length.tolist() == [256, 512, 1024, 2048, 4096]
    learned = found[-1]
    np.testing.assert_array_equal(np.isfinite(learned.loss), learned.length <= 512)
    assert "512 trained positions" in learned.note


def test_a_row_that_two_files_hold_counts_once(tables_folder: Path) -> None:
    again = (tables_folder / "perplexity-rope.csv").read_text()
    (tables_folder / "perplexity-rope-again.csv").write_text(again)
    rows = series.rows_of(tables.shipped("perplexity"), "fixed-targets", "heldout", "rope")
    assert series.curves(rows)[0].length.tolist() == [256, 512, 1024, 2048, 4096]


def test_settings_come_by_kind_and_number(tables_folder: Path) -> None:
    known = series.settings_of(tables.shipped("perplexity"), "rope")
    assert known[:4] == ["", "linear:fit", "linear:4", "ntk:fit"]
    assert known[-1] == "theta:50000"


def test_every_setting_has_a_look_of_its_own() -> None:
    settings = ["", "dynamic", "theta:20000", "theta:50000"]
    settings += [f"{k}:{n}" for k in ("linear", "ntk", "yarn", "llama3") for n in (2, 4, 8)]
    settings += ["linear:fit", "ntk:fit", "yarn:fit"]
    looks = [tuple(series.style("rope", s, settings).items()) for s in settings]
    assert len(set(looks)) == len(settings)
    exponents = ["", "exponent:4", "exponent:6", "exponent:10"]
    assert len({str(series.style("alibi", s, exponents)) for s in exponents}) == 4


def test_names_tell_checkpoints_of_one_encoding_apart() -> None:
    assert series.name("rope", "linear:4", "rope") == "RoPE, PI s = 4"
    assert series.label("rope", "linear:4") == "PI s = 4"
    assert series.name("rope", "", "rope-article-a") == "RoPE (rope-article-a)"


def test_positions_are_of_the_longest_input_that_each_model_can_read(tables_folder: Path) -> None:
    rows = series.rows_of(tables.shipped("perplexity"), "per-position", "heldout")
    assert {s.length for s in series.by_position(rows)} == {4096}
    short = rows[rows.checkpoint == "alibi"].assign(checkpoint="learned", encoding="learned")
    gone = short.iloc[:1].assign(loss=np.nan, first=np.nan, last=np.nan, note="undefined past 512")
    short = short.assign(length=512)
    drawn = {s.name: s.length for s in series.by_position(_together(rows, short, gone))}
    assert drawn["Learned"] == 512
    assert "Learned: undefined past 512." in series.undefined(_together(rows, gone))
    assert series.undefined(rows) == ""


def _together(*parts: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)


def test_measured_rows_without_a_value_become_gaps() -> None:
    nothing = (None,) * 7
    given = (4.0, None, None, 54.6, None, None, None)
    rows = [
        Row("", "fixed-targets", n, None, None, "all", *values, 10, 1, 0.1, note)
        for n, values, note in ((512, given, ""), (1024, nothing, "undefined past its table"))
    ]
    (found,) = series.curves(series.table(rows, "learned", "learned", 512))
    np.testing.assert_array_equal(found.loss, [4.0, np.nan])
    assert np.isnan(found.low).all()
    assert found.note == "undefined past its table"


def test_a_changed_table_is_read_again_and_one_without_words_is_fine(tables_folder: Path) -> None:
    assert set(tables.shipped("costs").encoding) == set(series.ORDER)
    results.write(tables_folder / "costs.csv", "another", [{"encoding": "rope", "note": ""}])
    rows = tables.shipped("costs")
    assert rows.encoding.tolist() == ["rope"]
    assert rows.note.tolist() == [""]  # empty throughout, so the file has numbers there: NaN
    assert tables.made(rows) == " Made by `another`."


def test_words_where_numbers_belong_are_an_error(tables_folder: Path) -> None:
    rows = series.rows_of(tables.shipped("perplexity"), "fixed-targets", "heldout")
    with pytest.raises(AtlasError, match="Expected numbers in the column loss"):
        series.curves(rows.assign(loss="many"))
