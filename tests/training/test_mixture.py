"""Stages of training: which sequences repeat, which hold a copy, and that each step is its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.training.test_train import RECIPE, Interrupted, data, log, weights
from viz_core import catalogue
from viz_core.encodings import all_encodings
from viz_core.errors import TextError, UsageError
from viz_core.model import Transformer
from viz_core.training import mixture, recipe, train
from viz_core.training.mixture import Mixture, Stage

IDS = np.arange(4000, dtype=np.uint16)  # a token says where it stood
SHORT = Stage(16, 8, 16 * 8 * 5, periodic=1.0, periods=(2, 5))
LONG = Stage(48, 8, 48 * 8 * 12 - 1, periodic=0.25, copied=0.25, periods=(4, 20))
MADE = Mixture(IDS, (SHORT, LONG), seed=3)
STAGED = replace(
    RECIPE,
    optimiser="muon",
    rate=0.02,
    other_rate=3e-3,
    own_rate=3e-2,
    cooldown=0.25,
    stages=(Stage(8, 4, 96, periodic=1.0, periods=(2, 3)), replace(LONG, length=16, tokens=600)),
)


def periods(row: Tensor) -> list[int]:
    return [p for p in range(1, len(row)) if torch.equal(row[p:], row[:-p])]


def test_stages_follow_each_other() -> None:
    assert (SHORT.steps, LONG.steps, MADE.steps) == (5, 12, 17)
    assert [MADE[step].shape for step in (0, 4, 5, 16)] == [(8, 17)] * 2 + [(8, 49)] * 2


def test_a_step_is_the_same_in_any_order_and_other_than_the_next() -> None:
    again = Mixture(IDS, (SHORT, LONG), seed=3)
    for step in (16, 2, 9, 5):
        assert torch.equal(again[step], MADE[step])
    assert not torch.equal(MADE[0], MADE[1])
    assert not torch.equal(Mixture(IDS, (SHORT, LONG), seed=4)[0], MADE[0])


def test_periodic_sequences_repeat_text_or_tokens_of_it() -> None:
    rows = torch.cat([MADE[step] for step in range(5)])
    assert all(any(2 <= p <= 5 for p in periods(row)) for row in rows)
    assert {min(periods(row)) for row in rows} == {2, 3, 4, 5}
    text = [bool(((row[1:] - row[:-1]) == 1).any()) for row in rows]
    assert 10 < sum(text) < 35  # of 40


def test_a_quarter_repeats_a_quarter_holds_a_copy_and_half_is_text() -> None:
    for step in range(5, 17):
        rows = MADE[step]
        assert [min(periods(row), default=99) <= 20 for row in rows] == [True] * 2 + [False] * 6
        copies = 0
        for row in rows[2:4]:
            places = [i for i in range(1, 49) if row[i] in row[:i]]
            assert len(places) == 16  # a third of the sequence, where that is little
            assert places == [*range(places[0], places[-1] + 1)]
            gaps = {i - row[:i].tolist().index(int(row[i])) for i in places}
            assert len(gaps) == 1 and min(gaps) >= len(places)
            copies += len(places)
        assert all(bool((row.diff() == 1).all()) for row in rows[4:])
        assert MADE.seen(step) == (8 * 48, 6 * 48 - copies)


def test_text_comes_once_in_a_pass() -> None:
    plain = Mixture(IDS, (Stage(48, 8, 48 * 80),), seed=0)
    rows = torch.cat([plain[step] for step in range(10)])
    assert len(rows[:, 0].unique()) == 80 and bool((rows[:, 0].diff() != 48).any())
    assert len({int(s) % 48 for s in rows[:, 0]}) == 1


def test_too_little_text_is_said_so() -> None:
    with pytest.raises(TextError, match="at least 97 tokens; got 90"):
        Mixture(IDS[:90], (LONG,), seed=0)


@pytest.mark.parametrize("gap", [8, 20, 40])
def test_held_out_copies(gap: int) -> None:
    rows, first, second = mixture.held_out_copies(IDS, 48, gap, 5, seed=0)
    again, *_ = mixture.held_out_copies(IDS, 48, gap, 5, seed=0)
    assert torch.equal(rows, again) and rows.shape == (5, 49)
    assert second.start - first.start == gap and second.stop - first.stop == gap
    targets = rows[:, 1:]
    assert torch.equal(targets[:, first], targets[:, second])
    assert len(targets[0, first]) > 1


@pytest.mark.parametrize("encoding", ["rope", "t5"])
def test_a_resumed_run_of_stages_is_the_unbroken_one(encoding: str, tmp_path: Path) -> None:
    whole = train.train(encoding, STAGED, data(), tmp_path / "whole")

    def interrupt(step: int, total: int, loss: float) -> None:
        if step == 5:
            raise Interrupted

    with pytest.raises(Interrupted):
        train.train(encoding, STAGED, data(), tmp_path / "broken", progress=interrupt)
    broken = train.train(encoding, STAGED, data(), tmp_path / "broken")
    first, second = weights(whole), weights(broken)
    assert all(torch.equal(first[name], second[name]) for name in first)
    last, other = log(whole.parent)[-1], log(broken.parent)[-1]
    assert {**last, "seconds": 0} == {**other, "seconds": 0}
    assert last["tokens"] == 3 * 32 + 5 * 128 and 0 < last["text_tokens"] < last["tokens"]
    assert last["first_loss"] > 0 and last["copy_loss"] > 0


def test_muon_has_the_matrices_and_an_encoding_a_rate_of_its_own() -> None:
    for encoding in all_encodings():
        made = Transformer(RECIPE.model(encoding, {}))
        muon, rest = train.optimisers(made, STAGED)
        assert isinstance(muon, torch.optim.Muon)
        assert {p.ndim for group in muon.param_groups for p in group["params"]} == {2}
        own = {id(p) for p in made.encoding.parameters()}
        for group in (*muon.param_groups, *rest.param_groups):
            mine = {id(p) for p in group["params"]}
            kind = 3e-2 if mine <= own else 0.02 if group in muon.param_groups else 3e-3
            assert group["peak"] == kind
        assert sum(len(g["params"]) for o in (muon, rest) for g in o.param_groups) == len(
            [*made.parameters()]
        )


def test_a_cooldown_is_a_line_to_nothing() -> None:
    made = replace(STAGED, warmup=10)
    rates = [made.learning_rate(step, 200) for step in range(201)]
    assert rates[9:151] == pytest.approx([0.02] * 142)
    assert rates[175] == pytest.approx(0.01) and rates[200] == 0


def test_older_recipes_keep_their_hash() -> None:
    for found in catalogue.shipped().values():
        assert found.facts["recipe_sha256"] == recipe.load(found.facts["recipe"]["name"]).sha256


def test_a_recipe_takes_numbers_in_place_of_its_own() -> None:
    plain = recipe.load("copies")
    other = plain.with_values(["seed=1", "rate=0.01", "own_rate=0.05", "budget=0.5"])
    assert (other.seed, other.rate, other.own_rate, other.budget) == (1, 0.01, 0.05, 0.5)
    assert other.sha256 != plain.sha256 == plain.with_values([]).sha256
    ids = np.arange(40_000, dtype=np.uint16)
    whole, half = (Mixture(ids, plain.stages, 0, r.budget) for r in (plain, other))
    assert half.steps == pytest.approx(whole.steps / 2, abs=2)
    for wrong in ("name=x", "seed", "seed=x", "seed=1.5", "stages=1"):
        with pytest.raises(UsageError, match="Expected a number of the recipe"):
            plain.with_values([wrong])
