"""Losses by length: which tokens, with how much context; sums, intervals and stops are right."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from viz_core import perplexity
from viz_core.errors import LengthError, UnknownName, UsageError
from viz_core.model import ModelConfig, Transformer
from viz_core.perplexity import intervals, protocols, scoring
from viz_core.perplexity.protocols import FIXED, PIECES, POSITIONS, PROTOCOLS, SLIDING
from viz_core.types import Sample

VOCABULARY, TRAINED = 24, 16


def model(encoding: str, dtype: torch.dtype = torch.float64) -> Transformer:
    torch.manual_seed(0)
    made = Transformer(ModelConfig(encoding, 2, 4, 32, VOCABULARY, TRAINED)).to(dtype)
    return made.eval().requires_grad_(False)


def sample(name: str, size: int) -> Sample:
    rng = np.random.default_rng([ord(c) for c in name])
    ids = tuple(int(i) for i in rng.integers(VOCABULARY, size=size))
    return Sample(name, name[0], ids, name)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocols, "TARGETS", 8)
    monkeypatch.setattr(protocols, "STRIDE", 4)
    monkeypatch.setattr(protocols, "SCORED", 12)


SAMPLES = [sample("a1", 65), sample("a2", 65), sample("b1", 65)]


def plain(made: Transformer, ids: tuple[int, ...]) -> Tensor:
    """The loss of each token after the first, from whole logits."""
    tokens = torch.tensor([ids])
    logp = made(tokens[:, :-1]).logits.log_softmax(-1)
    return -logp[0].gather(-1, tokens[0, 1:, None])[:, 0]


@pytest.mark.parametrize("limit", [1, 100, 1 << 22])
@pytest.mark.parametrize("last", [None, 1, 5])
def test_losses_are_those_of_whole_logits(
    last: int | None, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "LOGITS", limit)
    made = model("alibi")
    rows = torch.tensor([s.ids for s in SAMPLES])
    found = perplexity.token_losses(made, rows, last)
    expected = torch.stack([plain(made, s.ids) for s in SAMPLES])
    torch.testing.assert_close(found, expected if last is None else expected[:, -last:])


def scored(protocol: str, length: int, size: int = 65) -> list[int]:
    """Indices of the predicted tokens, in order."""
    return [
        w.start + w.length - w.last + 1 + i
        for w in protocols.windows(protocol, size, length, "x")
        for i in range(w.last)
    ]


@pytest.mark.parametrize("protocol", [FIXED, SLIDING])
def test_targets_are_the_same_at_every_length(protocol: str) -> None:
    lengths = (8, 16, 32, 56)
    assert len({tuple(scored(protocol, n)) for n in lengths}) == 1
    count = protocols.TARGETS if protocol == FIXED else protocols.SCORED
    assert scored(protocol, 8) == list(range(65 - count, 65))
    for n in lengths:  # and each has as much before it as the protocol promises
        for w in protocols.windows(protocol, 65, n, "x"):
            assert w.length == n and w.last == (8 if protocol == FIXED else 4)


@pytest.mark.parametrize("length", [1, 4, 16, 64])
def test_pieces_cover_each_token_once(length: int) -> None:
    assert scored(PIECES, length) == list(range(1, 65))


def test_windows_by_position_lie_in_the_document_and_differ_between_documents() -> None:
    found = [protocols.windows(POSITIONS, 1000, 16, name) for name in ("x", "x", "y")]
    assert found[0] == found[1] != found[2]
    assert all(w.start >= 0 and w.start + w.length + 1 <= 1000 for w in found[0] + found[2])


@pytest.mark.parametrize("length", [1, 31, 32, 33, 100, 512, 4096])
def test_bins_cover_each_position_once(length: int) -> None:
    found = protocols.bins(POSITIONS, length)
    covered = [p for b in found for p in range(b.first, b.last + 1)]
    assert covered == list(range(1, length + 1))
    assert length < 33 or (found[0].first, found[0].last) == (1, 31)


@pytest.mark.parametrize("encoding", ["rope", "t5"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_means_are_token_weighted_over_documents(protocol: str, encoding: str) -> None:
    made = model(encoding)
    rows = perplexity.measure(made, SAMPLES, [16, 24], protocol)
    for row in rows:
        losses = []
        for s in SAMPLES:
            for w in protocols.windows(protocol, 65, row.length, s.sha256):
                found = plain(made, s.ids[w.start : w.start + w.length + 1])
                first, last = row.first or 1, row.last or w.length
                counted = range(max(first, w.length - w.last + 1), last + 1)
                losses += [float(found[p - 1]) for p in counted]
        assert row.loss == pytest.approx(np.mean(losses), rel=1e-9)
        assert row.perplexity == pytest.approx(math.exp(np.mean(losses)))
        assert (row.tokens, row.documents) == (len(losses), 3)
        assert row.loss_low is not None and row.loss_low <= row.loss <= (row.loss_high or 0)
    assert {r.length for r in rows} == {16, 24}


def test_differences_pair_the_same_targets_with_the_trained_length() -> None:
    made = model("sinusoidal")
    for row in perplexity.measure(made, SAMPLES, [8, 16, 40]):
        gaps = []
        for s in SAMPLES:
            far = plain(made, s.ids[64 - row.length :])[-8:].sum()
            gaps.append(float(far - plain(made, s.ids[64 - TRAINED :])[-8:].sum()) / 8)
        assert row.difference == pytest.approx(np.mean(gaps), abs=1e-12)
        assert row.difference_low <= row.difference <= row.difference_high
        if row.length == TRAINED:
            assert row.difference == row.difference_low == row.difference_high == 0
    assert perplexity.measure(made, SAMPLES, [16], PIECES)[0].difference is None


def test_a_setting_is_held_against_the_model_as_trained() -> None:
    made = model("rope")
    plain_row, wide = (
        perplexity.measure(made, SAMPLES, [16], setting=s)[0] for s in ("", "linear:4")
    )
    assert wide.setting == "linear:4" and wide.loss is not None and plain_row.loss is not None
    assert wide.difference == pytest.approx(wide.loss - plain_row.loss, abs=1e-12)
    assert wide.difference != 0  # a fixed factor changes short texts too


def test_dynamic_and_fitted_scalings_are_plain_up_to_the_trained_length() -> None:
    made = model("rope", torch.float32)
    expected = [r.loss for r in perplexity.measure(made, SAMPLES, [8, 16])]
    for setting in ("dynamic", "linear:fit", "ntk:fit", "yarn:fit"):
        found = perplexity.measure(made, SAMPLES, [8, 16, 32], setting=setting)
        assert [r.loss for r in found[:2]] == expected, setting
        assert found[2].loss != perplexity.measure(made, SAMPLES, [32])[0].loss, setting


def test_a_learned_table_ends_and_no_number_is_made_up() -> None:
    inside, beyond = perplexity.measure(model("learned"), SAMPLES, [16, 17])
    assert inside.loss is not None and inside.note == ""
    assert beyond.loss is None and beyond.perplexity is None and beyond.tokens == 0
    assert beyond.note == "undefined past its 16 trained positions"


def test_sources_have_rows_of_their_own() -> None:
    rows = perplexity.measure(model("nope"), SAMPLES, [16], by_source=True)
    by = {r.source: r for r in rows}
    assert list(by) == ["all", "a", "b"]
    assert (by["a"].documents, by["b"].documents, by["all"].tokens) == (2, 1, 24)
    assert by["b"].loss_low is None and by["b"].loss_high is None  # one document: no interval
    weighted = (2 * by["a"].loss + by["b"].loss) / 3  # type: ignore[operator]
    assert by["all"].loss == pytest.approx(weighted)


def test_intervals_resample_documents_as_pairs() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(50, 150, 40).astype(float)
    level = rng.normal(4, 0.5, 40)
    sums, others = level * counts, (level + 0.1) * counts
    mean, gap = intervals.mean(sums, counts), intervals.difference(others, sums, counts)
    assert mean.value == pytest.approx(sums.sum() / counts.sum())
    spread = np.std(level) / 40**0.5
    assert mean.high - mean.low == pytest.approx(2 * 1.96 * spread, rel=0.25)  # type: ignore[operator]
    assert gap.value == pytest.approx(0.1) and gap.high - gap.low < 1e-9  # type: ignore[operator]
    assert intervals.mean(sums, counts) == mean  # the same draws each time
    assert intervals.mean(sums[:1], counts[:1])[1:] == (None, None)


class Stop(Exception):
    pass


def test_a_stopped_run_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    made = model("rope")
    expected = perplexity.measure(made, SAMPLES, [16, 32], identity="sha")
    kept: dict[str, dict[str, Any]] = {}
    real, calls = perplexity.token_losses, list[int]()

    def counted(*a: Any) -> Tensor:
        calls.append(1)
        return real(*a)

    def stopping(done: float) -> None:
        if done > 0.3:
            raise Stop

    monkeypatch.setattr(perplexity, "token_losses", counted)
    with pytest.raises(Stop):
        perplexity.measure(made, SAMPLES, [16, 32], progress=stopping, kept=kept, identity="sha")
    assert 0 < len(kept) < 6 and len(calls) == len(kept)
    seen = list[float]()
    found = perplexity.measure(
        made, SAMPLES, [16, 32], progress=seen.append, kept=kept, identity="sha"
    )
    assert len(calls) == 6 == len(kept)  # none twice
    assert [(r.loss, r.difference_low) for r in found] == [
        (r.loss, r.difference_low) for r in expected
    ]
    assert seen == sorted(seen) and (seen[0], seen[-1]) == (0, 1)
    other = model("rope", torch.float64)
    perplexity.measure(other, SAMPLES, [16], kept=kept, identity="another checkpoint")
    assert len(calls) == 9


def test_equal_settings_share_what_was_computed() -> None:
    kept: dict[str, dict[str, Any]] = {}
    made = model("rope")
    perplexity.measure(made, SAMPLES, [32], setting="linear:2", kept=kept)
    count = len(kept)
    perplexity.measure(made, SAMPLES, [32], setting="linear:fit", kept=kept)
    assert len(kept) == count


@pytest.mark.parametrize(
    ("lengths", "protocol", "setting", "error"),
    [
        ([16, 65], FIXED, "", LengthError),
        ([7], FIXED, "", LengthError),
        ([57], SLIDING, "", LengthError),
        ([3], SLIDING, "", LengthError),
        ([0], PIECES, "", LengthError),
        ([16], "mean", "", UnknownName),
        ([16], FIXED, "exponent:6", UsageError),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_computed(
    lengths: list[int],
    protocol: str,
    setting: str,
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(perplexity, "token_losses", lambda *a: pytest.fail("computed"))
    with pytest.raises(error, match="Expected"):
        perplexity.measure(model("rope"), SAMPLES, lengths, protocol, setting)


class Largest(TorchDispatchMode):
    """The most elements that any tensor's memory had."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for t in out if isinstance(out, tuple) else (out,):
            if isinstance(t, Tensor):
                size = t.untyped_storage().nbytes() // t.element_size()
                self.elements = max(self.elements, size)
        return out


@pytest.mark.parametrize("encoding", ["nope", "sinusoidal", "t5", "alibi", "rope"])
def test_nothing_grows_with_the_square_of_the_length(encoding: str) -> None:
    made, n = model(encoding, torch.float32), 2048
    with Largest() as seen:
        perplexity.token_losses(made, torch.zeros(1, n + 1, dtype=torch.long), 8)
    assert seen.elements <= n * 4 * 32  # the MLP's hidden vectors
