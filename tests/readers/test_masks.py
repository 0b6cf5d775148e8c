"""What a mask function lets queries see, learnt from a few rows."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from viz_core.errors import UsageError
from viz_core.readers.masks import Sight, learn

utils = pytest.importorskip("transformers.masking_utils")
CHUNK = utils.chunked_causal_mask_function(8, torch.zeros(1, dtype=torch.long))


@pytest.mark.parametrize("count", [2, 3, 8, 9, 50])
@pytest.mark.parametrize(
    ("function", "causal", "window"),
    [
        (utils.causal_mask_function, True, None),
        (utils.bidirectional_mask_function, False, None),
        (utils.sliding_window_causal_mask_function(5), True, 5),
        (utils.sliding_window_bidirectional_mask_function(5), False, 6),
    ],
)
def test_masks_by_distance(function: Any, causal: bool, window: int | None, count: int) -> None:
    sight = learn(function, count)
    assert sight == Sight(causal, window if window is not None and window < count else None)
    whole = utils.eager_mask(1, count, count, mask_function=function)[0, 0] == 0
    assert torch.equal(sight.rows(torch.arange(count), count), whole)


@pytest.mark.parametrize("count", [9, 10, 15, 16, 17, 100])
def test_chunks_are_refused_once_there_are_two(count: int) -> None:
    assert learn(CHUNK, 8) == Sight()
    with pytest.raises(UsageError, match="cut into chunks"):
        learn(CHUNK, count)


def test_blocks_that_see_each_other_whole_are_refused() -> None:
    blocks = torch.arange(20)[None] // 10
    with pytest.raises(UsageError, match="depends on distance alone"):
        learn(utils.blockwise_overlay(blocks), 20)
