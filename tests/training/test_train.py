"""The trainer on tiny recipes and made-up text: resuming, equal data for all, what it writes."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from viz_core import perplexity
from viz_core.encodings import all_encodings
from viz_core.errors import AtlasError, TextError, UnknownName
from viz_core.model import Transformer
from viz_core.readers import native
from viz_core.training import batches, recipe, tokenizer, train
from viz_core.training.recipe import Recipe

VOCABULARY = 24
RECIPE = Recipe(
    name="tiny", layers=1, heads=2, width=16, mlp=2, vocabulary=VOCABULARY, length=16, passes=2,
    batch=4, rate=1e-2, warmup=3, decay=0.1, clip=1.0, seed=0, validate_every=4,
    precision="float32",
)  # fmt: skip
FACTS = {"corpus_sha256": "c" * 64, "tokenizer_sha256": "d" * 64}


class Interrupted(Exception):
    pass


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "VALIDATION_WINDOWS", 8)
    monkeypatch.setattr(train, "CLOSING_WINDOWS", 16)
    monkeypatch.setattr(train, "SAVE_EVERY", 3)


def data(tokens: int = 16 * 4 * 7 + 17, learnable: bool = False) -> train.Data:
    """7 batches in a pass; `learnable`: the next token follows from the one before."""
    chance = np.random.default_rng(0)
    ids = chance.integers(VOCABULARY, size=(2, tokens), dtype=np.uint16)
    if learnable:
        ids = np.tile((np.arange(tokens) * 5 % VOCABULARY).astype(np.uint16), (2, 1))
    return train.Data(ids[0], ids[1], FACTS)


def log(out: Path) -> list[dict[str, float]]:
    with (out / "training.csv").open(encoding="utf-8") as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


def weights(path: Path) -> dict[str, Tensor]:
    return native.read(path)[0].state_dict()


@pytest.mark.parametrize("stops", [(5,), (3, 10), (1, 2, 13)])
@pytest.mark.parametrize("encoding", ["rope", "t5"])
def test_a_resumed_run_is_the_unbroken_one(
    encoding: str, stops: tuple[int, ...], tmp_path: Path
) -> None:
    """In weights, in losses and in what it says of itself; only the clock differs."""
    whole = train.train(encoding, RECIPE, data(), tmp_path / "whole")
    steps: list[int] = []
    for stop in stops:

        def interrupt(step: int, total: int, loss: float, stop: int = stop) -> None:
            steps.append(step)
            if step == stop:
                raise Interrupted

        with pytest.raises(Interrupted):
            train.train(encoding, RECIPE, data(), tmp_path / "broken", progress=interrupt)
        assert not (tmp_path / "broken" / "model.safetensors").exists()
    broken = train.train(encoding, RECIPE, data(), tmp_path / "broken")
    assert max(steps) == stops[-1]
    first, second = weights(whole), weights(broken)
    assert all(torch.equal(first[name], second[name]) for name in first)
    rows, others = log(whole.parent), log(broken.parent)
    assert [r["step"] for r in rows] == [4, 8, 12, 14]
    for row in (*rows, *others):
        assert row.pop("seconds") > 0
    assert rows == others
    assert native.header(whole) == native.header(broken)
    assert sorted(p.name for p in broken.parent.iterdir()) == ["model.safetensors", "training.csv"]


def test_a_run_does_not_go_on_from_another_one(tmp_path: Path) -> None:
    def interrupt(step: int, total: int, loss: float) -> None:
        if step == 4:
            raise Interrupted

    with pytest.raises(Interrupted):
        train.train("alibi", RECIPE, data(), tmp_path, progress=interrupt)
    others: list[tuple[str, Recipe, train.Data, dict[str, Any] | None]] = [
        ("nope", RECIPE, data(), None),
        ("alibi", replace(RECIPE, rate=1e-3), data(), None),
        ("alibi", RECIPE, replace(data(), facts={**FACTS, "corpus_sha256": "e" * 64}), None),
        ("alibi", RECIPE, data(), {"exponent": 4.0}),
    ]
    for encoding, other, text, parameters in others:
        with pytest.raises(AtlasError, match="has another recipe, encoding or text"):
            train.train(encoding, other, text, tmp_path, parameters)
    train.train("alibi", RECIPE, data(), tmp_path)


def test_all_encodings_see_the_same_batches_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, list[Tensor]] = {}
    starts: dict[str, dict[str, Tensor]] = {}
    step = train._step

    def recorded(
        model: Transformer, optim: torch.optim.AdamW, tokens: Tensor, rate: float, clip: float
    ) -> float:
        name = model.config.encoding
        shared = {n: w.clone() for n, w in model.state_dict().items() if "encoding" not in n}
        starts.setdefault(name, shared)
        seen.setdefault(name, []).append(tokens.clone())
        return step(model, optim, tokens, rate, clip)

    monkeypatch.setattr(train, "_step", recorded)
    for encoding in all_encodings():
        train.train(encoding, RECIPE, data(), tmp_path / encoding)
    assert len(seen) == len(all_encodings()) and {len(s) for s in seen.values()} == {14}
    for encoding in seen:
        assert torch.equal(torch.stack(seen[encoding]), torch.stack(seen["nope"]))
        first, other = starts["nope"], starts[encoding]
        assert all(torch.equal(first[name], other[name]) for name in first)


def test_batches_cut_each_token_once_in_a_pass_and_anew_in_the_next() -> None:
    ids = np.arange(16 * 4 * 7 + 17, dtype=np.uint16)  # a token says where it stood
    made = batches.Batches(ids, 16, 4, passes=2, seed=0)
    assert (made.per_pass, made.steps) == (7, 14)
    passes = [torch.cat([made[s] for s in range(7 * n, 7 * n + 7)]) for n in range(2)]
    for cut in passes:
        assert cut.shape == (28, 17) and cut.dtype == torch.int64
        assert bool((cut.diff(dim=1) == 1).all())  # whole pieces of the text
        inputs = cut[:, :-1].flatten().sort().values
        assert torch.equal(inputs, torch.arange(len(inputs)) + inputs[0])
    assert not torch.equal(*passes)
    assert torch.equal(made[9], batches.Batches(ids, 16, 4, 2, seed=0)[9])
    assert not torch.equal(made[0], batches.Batches(ids, 16, 4, 2, seed=1)[0])


def test_held_out_windows_are_the_same_for_all_and_of_the_text() -> None:
    ids = np.arange(500, dtype=np.uint16)
    made = batches.held_out(ids, 16, 30, seed=3)
    assert made.shape == (30, 17) and bool((made.diff(dim=1) == 1).all())
    assert torch.equal(made, batches.held_out(ids, 16, 30, seed=3))
    assert len(made[:, 0].unique()) > 20


@pytest.mark.parametrize("tokens", [0, 5, 17, 80])
def test_too_little_text_is_said_so(tokens: int, tmp_path: Path) -> None:
    with pytest.raises(TextError, match="at least one batch of 4 x 16 tokens"):
        train.train("nope", RECIPE, data(tokens), tmp_path)
    short = replace(data(), validation=data(17).validation)
    with pytest.raises(TextError, match="more than 17 held-out tokens; got 17"):
        train.train("nope", RECIPE, short, tmp_path)


def test_the_learning_rate_warms_up_and_falls_to_a_tenth(tmp_path: Path) -> None:
    made = replace(RECIPE, rate=2e-3, warmup=100)
    rates = [made.learning_rate(step, 2000) for step in range(2001)]
    assert rates[:100] == pytest.approx([2e-5 * (s + 1) for s in range(100)])
    assert rates[100] == pytest.approx(2e-3) and rates[2000] == pytest.approx(2e-4)
    assert rates[1050] == pytest.approx(1.1e-3)  # half-way, the mean of both ends
    assert all(a > b for a, b in pairwise(rates[100:]))
    assert made.learning_rate(50, 50) > 0  # a run that ends within the warm-up
    assert replace(made, warmup=0).learning_rate(0, 10) == pytest.approx(2e-3)
    train.train("nope", RECIPE, data(), tmp_path)
    logged = [row["learning_rate"] for row in log(tmp_path)]
    assert logged == [RECIPE.learning_rate(s - 1, 14) for s in (4, 8, 12, 14)]


def test_the_loss_falls_on_a_text_that_can_be_learned(tmp_path: Path) -> None:
    path = train.train("rope", replace(RECIPE, passes=12), data(learnable=True), tmp_path)
    rows = log(tmp_path)
    assert rows[0]["training_loss"] > 2 and rows[-1]["training_loss"] < 0.5
    assert rows[-1]["validation_loss"] < 0.5 < math.log(VOCABULARY)
    assert rows[-1]["tokens"] == 12 * 7 * 4 * 16 == native.header(path)[1]["tokens_seen"]


def test_the_file_says_what_the_run_was(tmp_path: Path) -> None:
    text = data()
    path = train.train("t5", RECIPE, text, tmp_path, {"buckets": 8})
    config, facts = native.header(path)
    assert config == RECIPE.model("t5", {"buckets": 8, "max_distance": 128})
    assert facts["recipe"] == RECIPE.values and facts["recipe_sha256"] == RECIPE.sha256
    assert {name: facts[name] for name in FACTS} == FACTS
    assert facts["tokens_seen"] == 14 * 4 * 16 and facts["validation_tokens"] == 8 * 16
    assert facts["validation_loss"] == pytest.approx(log(tmp_path)[-1]["validation_loss"])
    json.dumps(facts, allow_nan=False)  # no NaN for positions past the trained length
    assert list(facts["loss_by_position"]) == ["1-15"]
    windows = batches.held_out(text.validation, 16, 16, RECIPE.seed)
    measured = perplexity.loss_by_position(native.read(path)[0], windows)
    assert facts["loss_by_position"]["1-15"] == pytest.approx(float(measured[:15].mean()))


def test_loss_by_position_is_that_of_each_token_given_those_before() -> None:
    torch.manual_seed(0)
    made = Transformer(RECIPE.model("alibi", {"exponent": 8.0})).eval()
    windows = torch.randint(VOCABULARY, (5, 17))
    with torch.no_grad():
        logs = made(windows[:, :-1]).logits.double().log_softmax(-1)
    expected = -logs.gather(-1, windows[:, 1:, None]).squeeze(-1).mean(0)
    for batch in (1, 2, 8):
        measured = perplexity.loss_by_position(made, windows, batch)
        assert measured.dtype == torch.float64
        torch.testing.assert_close(measured, expected, atol=1e-5, rtol=0)


def test_weight_decay_acts_on_the_matrices_of_linear_layers_alone() -> None:
    made = Transformer(RECIPE.model("learned", {}))
    (only,) = train.optimisers(made, RECIPE)
    decayed, *rest = only.param_groups
    names = {id(p): name for name, p in made.named_parameters()}
    found = {names[id(p)].split(".", 2)[-1] for p in decayed["params"]}
    assert found == {"qkv.weight", "out.weight", "up.weight", "down.weight"}
    others = {names[id(p)] for group in rest for p in group["params"]}
    assert others >= {"embedding.weight", "encoding.table.weight"}
    assert [decayed["weight_decay"], *(g["weight_decay"] for g in rest)] == [0.1, 0.0, 0.0]
    assert {g["peak"] for g in only.param_groups} == {RECIPE.rate}
    assert len(decayed["params"]) + len(others) == len(names)


def test_the_recipes_of_the_file(tmp_path: Path) -> None:
    made = {name: recipe.load(name) for name in ("shipped", "article-a", "article-b", "copies")}
    assert recipe.load() == made["shipped"] and len({r.sha256 for r in made.values()}) == 4
    for name, one in made.items():
        assert one.name == name and one.width % (2 * one.heads) == 0
        numbers = (v for v in one.values.values() if isinstance(v, (int, float)))
        assert all(v >= 0 for v in numbers) and one.vocabulary < 2**16  # token ids are uint16
        for encoding, card in all_encodings().items():
            with torch.device("meta"):
                Transformer(one.model(encoding, card.settings()))
    with pytest.raises(UnknownName, match="shipped, article-a, article-b, copies; got 'huge'"):
        recipe.load("huge")
    assert made["shipped"].sha256 != replace(made["shipped"], seed=1).sha256


def test_any_text_comes_back_from_the_tokenizer(tmp_path: Path) -> None:
    texts = ["The cat sat on the mat. " * 20, "and the dog ran to his own long house " * 20]
    made = tokenizer.load_or_train(tmp_path / "tokenizer.json", texts, 280)
    assert made.get_vocab_size() == 280 and made.token_to_id(tokenizer.END) == 0
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x3000 + 0xE000)]))
    for text in (*texts, "", " ", "\r\n\t\0", "größer ⟨é⟩ 漢字 🙂‍🔥", every):
        assert made.decode(made.encode(text).ids) == text
    assert len(made.encode(texts[0]).ids) < len(texts[0])
    other = tokenizer.train(texts, 280)
    assert other.to_str() == made.to_str()
    again = tokenizer.load_or_train(tmp_path / "tokenizer.json", [], 280)  # read, not trained
    assert again.to_str() == made.to_str()


def test_preparing_makes_tokens_once_and_marks_documents(tmp_path: Path) -> None:
    text, pieces = tmp_path / "corpus.jsonl", tmp_path / "tokenizer.json"
    entry = {"id": "a/1", "source": "a", "licence": "public-domain", "text": "one two three two"}
    entries = [{**entry, "split": s} for s in ("train", "train", "val", "test")]
    text.write_text("".join(json.dumps(e) + "\n" for e in entries), encoding="utf-8")
    made = train.prepare(replace(RECIPE, vocabulary=260), text, pieces)
    assert made.facts["corpus_sha256"] == native.sha256(text)
    assert made.facts["tokenizer_sha256"] == native.sha256(pieces)
    assert (made.training == 0).sum() == 2 and (made.validation == 0).sum() == 1
    assert made.training[-1] == made.validation[-1] == 0 and made.training.dtype == np.uint16
    kept = {p: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    again = train.prepare(replace(RECIPE, vocabulary=260), text, pieces)
    assert (again.training == made.training).all()
    assert {p: p.stat().st_mtime_ns for p in tmp_path.iterdir()} == kept
    with pytest.raises(AtlasError, match="make corpus"):
        train.prepare(RECIPE, tmp_path / "none.jsonl", pieces)
