"""T5's buckets: golden edges, transformers' own function, and the bias that comes of them."""

from __future__ import annotations

import pytest
import torch

from viz_core.encodings import Geometry, get
from viz_core.encodings.t5 import bucket
from viz_core.errors import UsageError

# the first distance of each bucket from buckets / 2 on; below that each distance has its own
CAUSAL = {
    (32, 128): [16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113],
    (32, 256): [16, 20, 23, 27, 32, 39, 46, 54, 64, 77, 91, 108, 128, 153, 182, 216],
    (32, 512): [16, 20, 25, 31, 39, 48, 59, 73, 91, 113, 140, 174, 216, 268, 332, 413],
    (16, 64): [8, 11, 14, 18, 23, 30, 39, 50],
}
BIDIRECTIONAL = [8, 12, 16, 23, 32, 46, 64, 91]  # 32 / 128, either direction
GEOMETRY = Geometry(heads=3, head_dim=4, width=12, length=32)


def starts(buckets: torch.Tensor) -> list[int]:
    """Where a non-decreasing staircase begins each of its steps."""
    assert (buckets.diff() >= 0).all()
    return [0, *(torch.nonzero(buckets.diff()).flatten() + 1).tolist()]


@pytest.mark.parametrize("sizes", CAUSAL)
def test_golden_causal_edges(sizes: tuple[int, int]) -> None:
    buckets = bucket(torch.arange(5000), *sizes)
    exact = sizes[0] // 2
    assert buckets[:exact].tolist() == list(range(exact))
    assert starts(buckets) == [*range(exact), *CAUSAL[sizes]]
    assert buckets[-1] == sizes[0] - 1


def test_golden_bidirectional_edges() -> None:
    d = torch.arange(1000)
    past, future = bucket(d, bidirectional=True), bucket(-d[1:], bidirectional=True)
    assert starts(past) == [*range(8), *BIDIRECTIONAL]
    assert future[:7].tolist() == list(range(17, 24))
    assert [s + 1 for s in starts(future)[7:]] == BIDIRECTIONAL
    assert 16 not in torch.cat((past, future))  # a future at distance 0 doesn't exist


def test_a_future_key_falls_in_the_causal_bucket_0() -> None:
    assert bucket(torch.tensor([-1, -50, -5000])).tolist() == [0, 0, 0]


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("buckets", [4, 7, 8, 16, 32, 33, 64, 128, 512])
def test_equals_transformers(buckets: int, bidirectional: bool) -> None:
    t5 = pytest.importorskip("transformers.models.t5.modeling_t5")
    d = torch.arange(-5000, 5000)
    for farthest in (20, 64, 100, 128, 256, 512, 1000, 1024, 2048, 65536):
        if farthest > buckets // 2:
            relative = -d  # key - query there, query - key here
            theirs = t5.T5Attention._relative_position_bucket(
                relative, bidirectional, buckets, farthest
            )
            assert torch.equal(bucket(d, buckets, farthest, bidirectional), theirs), farthest


@pytest.mark.parametrize("values", [{}, {"buckets": 16, "max_distance": 64}])
def test_bias_reads_one_scalar_per_head_and_bucket(values: dict[str, int]) -> None:
    module = get("t5").make(GEOMETRY, values)
    buckets, farthest = values.get("buckets", 32), values.get("max_distance", 128)
    d = torch.arange(3000)
    bias = module.bias(d)
    assert module.table.weight.shape == (buckets, 3)
    for h in range(3):
        assert torch.equal(bias[h], module.table.weight[bucket(d, buckets, farthest), h])
    last = CAUSAL[buckets, farthest][-1]
    assert (bias[:, last:] == bias[:, last : last + 1]).all()  # one scalar at any length
    assert (bias[:, last - 1] != bias[:, last]).all()
    assert torch.equal(module.law(d, torch.randn(3, 4), torch.randn(3, 4), 0.5), bias)


def test_bias_in_both_directions() -> None:
    """T5's encoder: the future has its own half of the table; causal, it has bucket 0."""
    d = torch.arange(-300, 300)
    for both in (0, 1):
        module = get("t5").make(GEOMETRY, {"bidirectional": both})
        expected = module.table.weight.T[:, bucket(d, bidirectional=bool(both))]
        assert torch.equal(module.bias(d), expected)


@pytest.mark.parametrize("values", [{"buckets": 512}, {"buckets": 64, "max_distance": 32}])
def test_needs_a_farthest_distance_past_the_exact_buckets(values: dict[str, int]) -> None:
    """At max_distance = buckets / 2 the logarithm's scale is 0, below it negative."""
    with pytest.raises(UsageError, match="Expected max_distance above"):
        get("t5").make(GEOMETRY, values)
    get("t5").make(GEOMETRY, {"buckets": 64, "max_distance": 33}).bias(torch.arange(100))
