"""Means of log-attention over cells, from means of q and k, against every pair in float64."""

import numpy as np
import pytest
import torch

from viz_core import encodings, log_means
from viz_core.model import ModelConfig, Transformer
from viz_core.trace import trace

N = 67
RANGES = [
    ((0, N), (0, N), 1),
    ((0, N), (0, N), 2),
    ((0, N), (0, N), 9),
    ((33, N), (5, 50), 4),
    ((10, 41), (20, 45), 5),
    ((2, 9), (30, 60), 3),  # all of it in the future
]


@pytest.mark.parametrize("encoding", list(encodings.all_encodings()))
@pytest.mark.parametrize(("rows", "columns", "cell"), RANGES)
@pytest.mark.parametrize("centred", [False, True])
def test_cell_means_are_means_over_pairs(encoding, rows, columns, cell, centred) -> None:
    torch.manual_seed(0)
    model = Transformer(ModelConfig(encoding, 2, 4, 32, 50, 128)).double().eval()
    t = trace(model, torch.randint(0, 50, (N,)).tolist())
    full = t.log_attention(1, (0, N), (0, N), slice(None)).detach()
    centre = torch.linspace(-3, 3, 4 * N, dtype=torch.float64).view(4, N) if centred else None
    some = None if centre is None else centre[1:]
    value, pairs = log_means.mean_logs(t, 1, rows, columns, cell, slice(1, 4), some)
    if centre is not None:
        full = full - centre[..., None]
    block = full[1:, rows[0] : rows[1], columns[0] : columns[1]].numpy()
    for r in range(value.shape[1]):
        for c in range(value.shape[2]):
            part = block[:, r * cell : (r + 1) * cell, c * cell : (c + 1) * cell]
            known = np.isfinite(part[0])
            assert known.sum() == pairs[r, c]
            got = value[:, r, c].detach().numpy()
            if known.any():
                np.testing.assert_allclose(got, part[:, known].mean(-1), atol=1e-9)
            else:
                assert np.isnan(got).all()
