"""The shipped tables: made by the commands they name, from the shipped checkpoints, and right."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tokenizers import Tokenizer

from viz_core import catalogue, perplexity, results, texts
from viz_core.arguments import parser
from viz_core.commands.perplexity import _mark
from viz_core.errors import AtlasError
from viz_core.training import corpus

TABLES = sorted(results.FOLDER.glob("*.csv"))
LOSSES = results.shipped("perplexity")
SHIPPED = catalogue.shipped()
SIX = {"nope", "sinusoidal", "learned", "t5", "alibi", "rope"}


def fixed(text: str = "heldout") -> pd.DataFrame:
    return LOSSES[(LOSSES.protocol == "fixed-targets") & (LOSSES.text == text)]


def test_there_are_tables_of_each_kind() -> None:
    names = {path.stem for path in TABLES}
    assert {"perplexity-encodings", "perplexity-rope", "costs", "probes", "sources"} <= names
    assert any(name.startswith("mechanism") for name in names)


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_each_names_a_command_that_exists_and_the_checkpoints_it_was_made_from(path: Path) -> None:
    table = results.read(path)
    program, *words = shlex.split(table.command)[1:]
    assert program == "-m" and words[0] in ("viz_core", "benchmarks.costs")
    if words[0] == "viz_core":
        parser().parse_args(words[1:])
    if path.stem == "emergence":  # of the steps of a training, which are not shipped
        files = table.rows.groupby("checkpoint").checkpoint_sha256
        assert (files.nunique() == 1).all() and files.first().is_unique
    elif "checkpoint_sha256" in table.rows:
        for row in table.rows.itertuples():
            assert row.checkpoint_sha256 == SHIPPED[str(row.checkpoint)].sha256, row.checkpoint


def test_all_six_are_measured_under_all_four_protocols() -> None:
    plain = LOSSES[LOSSES.setting == ""]
    for protocol in perplexity.PROTOCOLS:
        assert set(plain[plain.protocol == protocol].checkpoint) == SIX, protocol
    assert {512, 1024, 2048, 4096} <= set(fixed().length)
    assert (fixed().documents == 42).all()


def test_all_that_are_told_positions_have_learnt_to_use_them() -> None:
    found = results.shipped("probes").set_index("checkpoint")
    assert set(found.index) == SIX
    assert set(found.index[found.passed]) >= SIX - {"nope"}


def test_rows_add_up() -> None:
    known = LOSSES[LOSSES.loss.notna()]
    np.testing.assert_allclose(known.perplexity, np.exp(known.loss), rtol=1e-5)
    assert (known.loss_low <= known.loss).all() and (known.loss <= known.loss_high).all()
    empty = LOSSES[LOSSES.loss.isna()]
    assert set(empty.checkpoint) == {"learned"}
    assert (empty.note == "undefined past its 512 trained positions").all()
    assert (empty.length > 512).all()
    beyond = LOSSES[(LOSSES.checkpoint == "learned") & (LOSSES.length > 512)]
    assert beyond.loss.isna().all() and len(beyond) > 0


def test_dynamic_is_never_worse_than_plain_within_the_trained_length() -> None:
    rope = fixed()[fixed().checkpoint == "rope"].set_index(["setting", "length"])
    for n in (256, 512):
        for setting in ("dynamic", "linear:fit", "ntk:fit", "yarn:fit"):
            assert rope.loss[setting, n] == rope.loss["", n]


@pytest.mark.parametrize("setting", ["linear:2", "linear:4", "linear:8", "ntk:2", "ntk:4", "ntk:8"])
def test_fixed_scalings_cost_within_the_trained_length(setting: str) -> None:
    """The whole interval lies above 0, except that of NTK with s = 2, whose cost is 0.003 nats."""
    rope = fixed()[(fixed().checkpoint == "rope") & (fixed().setting == setting)]
    (row,) = rope[rope.length == 512].itertuples()
    assert row.difference > 0
    assert row.difference_low > 0 or setting == "ntk:2"


def test_a_small_part_comes_out_again() -> None:
    """Held-out documents where they have been fetched; Python's manual, if it is the same one."""
    text = "heldout" if (corpus.corpus_folder() / "heldout.jsonl").is_file() else "python-docs"
    tokenizer = Tokenizer.from_file(str(catalogue.TOKENIZER))
    rows = fixed(text)
    rows = rows[(rows.setting == "") & rows.checkpoint.isin(["rope", "alibi"])]
    samples = texts.samples(text, 512, tokenizer)
    if _mark(samples) not in set(rows.text_sha256):
        pytest.skip("the manual of this Python is another one than that of the shipped table")
    for name in ("rope", "alibi"):
        model = SHIPPED[name].load()
        for found in perplexity.measure(model, samples, [256, 512]):
            (kept,) = rows[(rows.checkpoint == name) & (rows.length == found.length)].itertuples()
            assert found.loss == pytest.approx(kept.loss, abs=1e-4)
            assert found.loss_low == pytest.approx(kept.loss_low, abs=1e-4)
            assert found.difference == pytest.approx(kept.difference, abs=1e-4)
            assert found.tokens == kept.tokens


def test_tables_come_back_as_written(tmp_path: Path) -> None:
    rows = [dict(name="a", loss=1 / 3, note=""), dict(name="b", loss=None, note="why")]
    results.write(tmp_path / "new" / "x-1.csv", "python -m viz_core list", rows)
    table = results.read(tmp_path / "new" / "x-1.csv")
    assert table.command == "python -m viz_core list"
    assert table.rows.note.tolist() == ["", "why"]
    assert table.rows.loss[0] == pytest.approx(1 / 3, rel=1e-6) and np.isnan(table.rows.loss[1])
    both = results.shipped("x", tmp_path / "new")
    assert both.command.tolist() == [table.command] * 2
    assert results.shipped("y", tmp_path / "new").empty


@pytest.mark.parametrize("content", ["", "name,loss\na,1\n", "# command\n", "# c\na,b\n1,2,3,4\n"])
def test_a_damaged_table_is_said_in_one_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.csv").write_text(content, encoding="utf-8")
    with pytest.raises(AtlasError, match="make results"):
        results.read(tmp_path / "x.csv")
    with pytest.raises(AtlasError, match="there is none"):
        results.read(tmp_path / "y.csv")
