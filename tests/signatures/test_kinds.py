"""Kinds of head on maps built by hand, against uniform attention counted cell by cell."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from viz_core.errors import LengthError
from viz_core.signatures import kinds
from viz_core.signatures.kinds import Score

Array = npt.NDArray[np.float64]
N = 120
UNIFORM = np.tril(np.ones((N, N))) / np.arange(1, N + 1)[:, None]


def profile(whole: Array, sink: int = 0) -> Array:
    """The mean over pairs at each distance [1, distance], without the first `sink` keys."""
    late = whole[sink:, sink:]
    return np.array([[np.diagonal(late, -d).mean() for d in range(N - sink)]])


def looking(*weight: tuple[float, Array]) -> Array:
    """A map [query, key] that is a mix of others, each given as any weights on keys."""
    mixed = np.zeros((N, N))
    for share, w in weight:
        causal = np.tril(w) + 1e-12 * UNIFORM
        mixed += share * causal / causal.sum(axis=1, keepdims=True)
    return mixed


DISTANCE = np.subtract.outer(np.arange(N), np.arange(N))
ONLY = {
    kinds.DIAGONAL: DISTANCE == 0,
    kinds.PREVIOUS: DISTANCE == 1,
    kinds.LOCAL: (DISTANCE > 1) & (DISTANCE <= 16),
    kinds.LONG: DISTANCE >= N // 2,
}


@pytest.mark.parametrize("sink", [0, 4])
def test_uniform_attention_has_every_baseline_and_no_kind(sink: int) -> None:
    found = kinds.by_distance(profile(UNIFORM, sink), sink)
    for name, score in found.items():
        assert score.value[0] == pytest.approx(score.baseline), name
        assert score.excess[0] == pytest.approx(0, abs=1e-12)
    assert kinds.sort(found) == (kinds.MIXED,)
    late = UNIFORM[sink:, sink:]
    assert found[kinds.PREVIOUS].baseline == pytest.approx(np.diagonal(late, -1).mean())
    for kind, first in ((kinds.LOCAL, 2), (kinds.LONG, N // 2)):
        some = np.where(ONLY[kind], UNIFORM, 0)[first + sink :, sink:]
        assert found[kind].baseline == pytest.approx(some.sum(axis=1).mean())


@pytest.mark.parametrize("kind", ONLY)
def test_a_head_of_one_kind_is_named_so(kind: str) -> None:
    found = kinds.by_distance(profile(looking((1.0, ONLY[kind]))))
    assert kinds.sort(found) == (kind,)
    assert found[kind].excess[0] == pytest.approx(1)
    for other in set(ONLY) - {kind}:
        assert found[other].excess[0] < 0.1


def test_sinks_are_not_long_range_once_they_are_left_out() -> None:
    whole = looking((0.9, np.arange(N)[None] < 4), (0.1, UNIFORM))
    mass, baseline = (m[:, :4].sum(axis=1).mean() for m in (whole, UNIFORM))
    scores = kinds.by_distance(profile(whole, 4), 4)
    scores[kinds.SINK] = Score(np.array([mass]), float(baseline))
    assert kinds.sort(scores) == (kinds.SINK,)
    assert scores[kinds.LONG].excess[0] < 0
    assert kinds.by_distance(profile(whole))[kinds.LONG].excess[0] > 0.5


def test_a_kind_needs_its_least_excess_and_a_lead() -> None:
    one = Score(np.array([0.43, 0.44, 0.90, 0.90, 0.90]), 0.2)
    other = Score(np.array([0.10, 0.10, 0.90, 0.81, 0.95]), 0.0)
    named = kinds.sort({kinds.SINK: one, kinds.INDUCTION: other})
    excess = one.excess
    np.testing.assert_allclose(excess, [0.2875, 0.3, 0.875, 0.875, 0.875])
    assert named == (kinds.MIXED, kinds.SINK, kinds.MIXED, kinds.MIXED, kinds.MIXED)
    assert kinds.sort({kinds.SINK: one}) == (kinds.MIXED, *[kinds.SINK] * 4)
    apart = Score(np.array([0.5, 0.5, 0.5, 0.5, 0.99]), 0.0)
    assert kinds.sort({kinds.SINK: one, kinds.INDUCTION: apart})[2:] == (
        kinds.SINK,
        kinds.SINK,
        kinds.INDUCTION,
    )


def test_random_content_has_no_kind() -> None:
    rng = np.random.default_rng(0)
    weight = np.exp(rng.standard_normal((40, N, N)))
    profiles = np.vstack([profile(looking((1.0, w))) for w in weight])
    found = kinds.by_distance(profiles)
    assert set(kinds.sort(found)) == {kinds.MIXED}
    for score in found.values():
        assert abs(score.excess.mean()) < 0.02


def test_texts_without_near_and_far_are_refused() -> None:
    with pytest.raises(LengthError, match=r"at least 72 tokens.*got 71"):
        kinds.by_distance(np.ones((1, 67)), sink=4)
