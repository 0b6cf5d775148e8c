"""The benchmark compares two ways to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks import maps
from viz_core.model import ModelConfig, Transformer


@pytest.mark.parametrize("encoding", ["rope", "alibi", "learned"])
def test_both_ways_give_the_same_maps_and_curves(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "PIXELS", 20)
    torch.manual_seed(0)
    model = Transformer(ModelConfig(encoding, 2, 4, 32, 50, 64)).eval().requires_grad_(False)
    ids = torch.randint(50, (59,)).tolist()
    for one, other in zip(maps.ours(model, ids), maps.dense(model, ids), strict=True):
        np.testing.assert_allclose(np.exp(one[0]), np.exp(other[0]), atol=1e-5)
        np.testing.assert_allclose(one[1], other[1], atol=1e-4)
