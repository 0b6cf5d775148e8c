"""The sinusoidal table: golden rows, GPT-J's table, and the two identities people quote of it."""

from __future__ import annotations

import pytest
import torch

from viz_core.encodings import Geometry, get
from viz_core.encodings.rope import rotate, to_half
from viz_core.encodings.sinusoidal import sinusoid

GOLDEN = {  # d = 8, sines and cosines interleaved
    1: [0.841471, 0.540302, 0.099833, 0.995004, 0.01, 0.99995, 0.001, 1.0],
    3: [0.14112, -0.989992, 0.29552, 0.955337, 0.029995, 0.99955, 0.003, 0.999996],
}


@pytest.mark.parametrize("position", GOLDEN)
def test_golden_rows(position: int) -> None:
    row = sinusoid(torch.tensor([position]), 8)[0].double()
    torch.testing.assert_close(row, torch.tensor(GOLDEN[position]).double(), atol=1e-6, rtol=0)


def test_equals_the_table_of_gptj_up_to_the_order_of_channels() -> None:
    gptj = pytest.importorskip("transformers.models.gptj.modeling_gptj")
    ours = sinusoid(torch.arange(64), 24)
    theirs = gptj.create_sinusoidal_positions(64, 24)  # [sin ..., cos ...]
    torch.testing.assert_close(to_half(ours).float(), theirs, atol=1e-5, rtol=0)
    assert not torch.allclose(ours.float(), theirs, atol=0.1)


def test_a_shift_is_a_rotation_of_each_pair() -> None:
    """PE[p + t] = R(t) PE[p]: linear in PE[p], with the same R(t) at every p."""
    p, t, width = torch.arange(40), 7, 16
    theta = 10000.0 ** (-torch.arange(0, width, 2).double() / width)
    turned = rotate(sinusoid(p, width).double(), -t * theta[None], "interleaved")
    torch.testing.assert_close(turned, sinusoid(p + t, width).double(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("offset", [0, 1000, 100_000])
def test_products_of_rows_depend_on_their_distance_only(offset: int) -> None:
    table = sinusoid(torch.arange(50) + offset, 32).double()
    first = sinusoid(torch.arange(50), 32).double()
    torch.testing.assert_close(table @ table.T, first @ first.T, atol=1e-5, rtol=0)
    torch.testing.assert_close(table.square().sum(1), torch.full((50,), 16.0).double())


def test_an_odd_width_drops_the_last_cosine() -> None:
    row = sinusoid(torch.tensor([2]), 7)[0].double()
    assert row.shape == (7,)
    assert float(row[6]) == pytest.approx(float(torch.tensor(2 * 10000 ** (-6 / 7)).sin()))


def test_embed_adds_the_rows_of_these_positions_unscaled_and_base_acts() -> None:
    geometry = Geometry(heads=2, head_dim=4, width=8, length=16)
    x, positions = torch.randn(3, 5, 8), torch.arange(90, 95)
    for values in ({}, {"base": 500.0}):
        added = get("sinusoidal").make(geometry, values).embed(x, positions) - x
        expected = sinusoid(positions, 8, values.get("base", 10000.0)).float().expand(3, 5, 8)
        torch.testing.assert_close(added, expected, atol=1e-6, rtol=0)
