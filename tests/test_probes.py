"""Probes on attention that is known: built by hand, uniform, or held whole."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from torch import Tensor

from viz_core import catalogue, encodings, probes
from viz_core.encodings import Geometry, PositionEncoding
from viz_core.errors import LengthError
from viz_core.model import ModelConfig, Transformer
from viz_core.probes import Score
from viz_core.subject import LayerTrace
from viz_core.trace import Trace
from viz_core.trace import trace as traced

SHARP = 30.0  # a logit that leaves nothing to other keys in float32


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(catalogue.TOKENIZER))


def plain(heads: int = 1) -> PositionEncoding:
    return encodings.get("nope").make(Geometry(heads, 4, 4 * heads, 64))


def looking(sought: list[Callable[[int, int], bool]], n: int, sharp: float = SHARP) -> Trace:
    """One layer; head h of query i prefers the keys j with sought[h](i, j): keys are one-hot."""
    at = range(n)
    q = torch.tensor([[[sharp * (j < i and f(i, j)) for j in at] for i in at] for f in sought])
    k = torch.eye(n).expand(len(sought), n, n)
    scores = (q @ k.transpose(-1, -2)).masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)
    layer = LayerTrace(q, k, scores.logsumexp(-1))
    return Trace.alike([layer], plain(len(sought)), 1.0)


def untrained(encoding: str, layers: int = 2, heads: int = 2, sharp: float = 30.0) -> Transformer:
    torch.manual_seed(0)
    config = ModelConfig(encoding, layers, heads, 16, 4096, 128)
    made = Transformer(config).eval().requires_grad_(False)
    made.embedding.weight *= sharp
    return made


def whole(passed: Trace, layer: int) -> Tensor:
    n = passed.length
    return passed.log_attention(layer, (0, n), (0, n), slice(None)).double().exp()


def test_a_head_that_looks_at_the_token_before_scores_1_and_is_the_best() -> None:
    n = 12
    passed = looking([lambda i, j: False, lambda i, j: j == i - 1, lambda i, j: j == i - 2], n)
    score = probes.previous_token(passed)
    assert score.value.shape == (1, 3)
    assert score.baseline == pytest.approx(sum(1 / (i + 1) for i in range(1, n)) / (n - 1))
    assert score.value[0, 0] == pytest.approx(score.baseline)  # uniform
    assert score.value[0, 1] == pytest.approx(1)
    assert score.value[0, 2] == pytest.approx(1 / 2 / (n - 1), abs=1e-6)  # query 1 has no key - 1
    assert (score.best.layer, score.best.head) == (0, 1)
    assert score.best.value == pytest.approx(1)
    assert score.found


@pytest.mark.parametrize("encoding", ["nope", "sinusoidal", "learned", "t5", "alibi", "rope"])
def test_an_offset_scan_is_the_mean_of_the_maps_diagonals(encoding: str) -> None:
    passed = traced(untrained(encoding), [(37 * i) % 101 for i in range(50)])
    offsets = [0, 1, 2, 7, 33, 49]
    value, baseline = probes.offset_scan(passed, offsets)
    assert value.shape == (2, 2, 6)
    for layer in range(2):
        full = whole(passed, layer)
        for n, t in enumerate(offsets):
            expected = full.diagonal(-t, -2, -1).mean(-1)
            np.testing.assert_allclose(value[layer, :, n], expected, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(baseline, [np.mean(1 / np.arange(t + 1, 51)) for t in offsets])
    score = probes.previous_token(passed)
    np.testing.assert_allclose(score.value, value[..., 1], rtol=1e-6)
    assert score.baseline == pytest.approx(baseline[1])


@pytest.mark.parametrize("offset", [-1, 12])
def test_offsets_outside_the_text_are_refused(offset: int) -> None:
    passed = looking([lambda i, j: False], 12)
    with pytest.raises(LengthError, match=f"from 0 to 11, in a text of 12; got {offset}"):
        probes.offset_scan(passed, [1, offset])


def test_induction_reads_what_followed_earlier_copies(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three heads, one looks there, one at the copies themselves, one at all alike."""
    given = list[list[int]]()
    followed = looking(
        [lambda i, j: False, lambda i, j: (i - j) % 25 == 0, lambda i, j: (i - j) % 25 == 24], 100
    )

    def passes(model: Transformer, ids: list[int]) -> Trace:
        given.append(list(ids))
        return followed

    monkeypatch.setattr(probes, "trace", passes)
    score = probes.induction(untrained("nope"), tokenizer)
    marks = set(tokenizer.get_added_tokens_decoder())
    assert marks
    assert len({tuple(ids) for ids in given}) == 10
    for ids in given:
        assert len(ids) == 100
        assert ids == ids[:25] * 4
        assert not marks & set(ids)
    full = whole(followed, 0)
    for head in range(3):
        sums = [
            sum(float(full[head, i, c + 1]) for c in range(i - 25, -1, -25)) for i in range(25, 100)
        ]
        assert score.value[0, head] == pytest.approx(np.mean(sums), abs=1e-6)
    targets = [len(range(i - 25, -1, -25)) / (i + 1) for i in range(25, 100)]
    assert score.baseline == pytest.approx(np.mean(targets))
    assert score.value[0, 0] == pytest.approx(score.baseline)
    assert score.value[0, 1] < 1e-6
    assert score.value[0, 2] > 0.98  # all but a key 0 that followed no copy, at queries 49, 74, 99
    assert score.found


@pytest.mark.parametrize("encoding", ["nope", "sinusoidal"])
def test_a_model_without_queries_has_the_baseline_of_both_probes(
    encoding: str, tokenizer: Tokenizer
) -> None:
    made = untrained(encoding)
    for block in made.blocks:
        block.qkv.weight[:16] = 0
    found = probes.induction(made, tokenizer, seeds=2)
    np.testing.assert_allclose(found.value, found.baseline, rtol=1e-5)
    before = probes.previous_token(traced(made, list(range(80))))
    np.testing.assert_allclose(before.value, before.baseline, rtol=1e-5)
    assert not probes.gate(before, found, {"1-15": 9.0, "256-511": 1.0}).passed


def test_a_mean_over_texts_is_of_scores_and_baselines() -> None:
    scores = [Score(np.array([[0.1, 0.4]]), 0.02), Score(np.array([[0.5, 0.2]]), 0.04)]
    found = probes.mean(scores)
    np.testing.assert_allclose(found.value, [[0.3, 0.3]])
    assert found.baseline == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("previous", "induction", "losses", "passed"),
    [
        (0.5, 0.0, {"1-15": 4.4, "256-511": 4.1}, True),
        (0.0, 0.5, {"1-15": 4.4, "256-511": 4.1}, True),
        (0.49, 0.49, {"1-15": 4.4, "256-511": 4.1}, False),
        (0.9, 0.9, {"1-15": 4.0, "256-511": 3.85}, False),
        (0.9, 0.9, {"1-15": 4.0}, None),
        (0.9, 0.9, None, None),
        (0.1, 0.1, None, False),
    ],
)
def test_the_gate(
    previous: float, induction: float, losses: dict[str, float] | None, passed: bool | None
) -> None:
    one, two = (Score(np.array([[0.0, s], [0.0, 0.0]]), 0.1) for s in (previous, induction))
    found = probes.gate(one, two, losses)
    assert found.passed is passed
    assert (found.previous, found.induction) == (one, two)
    assert (found.early, found.late) == tuple((losses or {}).get(n) for n in ("1-15", "256-511"))
