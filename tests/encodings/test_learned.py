"""The learned table: what it adds, and that nothing is made up past its end."""

from __future__ import annotations

import pytest
import torch

from viz_core.encodings import Geometry, get
from viz_core.errors import LengthError

GEOMETRY = Geometry(heads=2, head_dim=6, width=12, length=20)


def test_adds_its_rows_at_the_scale_of_token_vectors() -> None:
    module = get("learned").make(GEOMETRY)
    x = torch.randn(2, 4, 12)
    expected = module.table.weight[13:17] * 12**0.5
    torch.testing.assert_close(
        module.embed(x, torch.arange(13, 17)) - x, expected.expand(2, 4, 12), atol=1e-6, rtol=0
    )


def test_has_as_many_positions_as_the_trained_length() -> None:
    module = get("learned").make(GEOMETRY)
    assert module.longest == 20
    module.embed(torch.zeros(20, 12), torch.arange(20))
    assert module.embed(torch.zeros(0, 12), torch.arange(0)).shape == (0, 12)


@pytest.mark.parametrize("positions", [[20], [0, 19, 20], [5000]])
def test_past_the_end_is_an_error_that_names_the_end(positions: list[int]) -> None:
    module = get("learned").make(GEOMETRY)
    with pytest.raises(LengthError, match=f"end at 20 tokens.* {positions[-1]} ") as caught:
        module.embed(torch.zeros(len(positions), 12), torch.tensor(positions))
    assert caught.value.largest == 20


def test_starts_as_the_token_table_does() -> None:
    torch.manual_seed(0)
    table = get("learned").make(Geometry(4, 32, 128, 512)).table.weight
    assert float(table.detach().std()) == pytest.approx(0.02, rel=0.02)
