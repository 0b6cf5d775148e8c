"""Where losses are read: the ranges, the tokens in them, the interval of a difference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from viz_core.attribution import Place, places
from viz_core.errors import LengthError
from viz_core.model import Transformer
from viz_core.perplexity import intervals, scoring, token_losses


@pytest.mark.parametrize(
    ("trained", "length", "expected"),
    [
        (512, 1024, [("near", 1, 64), ("far", 257, 512), ("beyond", 513, 1024)]),
        (512, 512, [("near", 1, 64), ("far", 257, 512)]),
        (512, 300, [("near", 1, 64), ("far", 257, 300)]),
        (512, 20, [("near", 1, 20)]),
        (4, 9, [("near", 1, 1), ("far", 3, 4), ("beyond", 5, 9)]),
    ],
)
def test_places_of_a_length(
    trained: int, length: int, expected: list[tuple[str, int, int]]
) -> None:
    assert places.divide(trained, length) == tuple(Place(*p) for p in expected)


@pytest.mark.parametrize("logits", [1, 100, scoring.LOGITS])
def test_the_losses_of_a_place_are_those_of_its_tokens(
    logits: int,
    small: Callable[..., Transformer],
    drawn: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "LOGITS", logits)
    model, ids = small("rope"), torch.tensor(drawn(51))
    where = [Place("first", 1, 7), Place("one", 20, 20), Place("last", 33, 50)]
    found = places.losses(model, model(ids[None, :-1]).stream[0], ids, where)
    every = token_losses(model, ids[None])[0].double()  # the first has one token before it
    expected = [every[p.first - 1 : p.last].mean() for p in where]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_losses_that_are_no_numbers_are_refused(small: Callable[..., Transformer]) -> None:
    end = torch.full((5, 16), float("nan"))
    with pytest.raises(LengthError, match="5 tokens are not finite"):
        places.losses(small("nope"), end, torch.arange(6), [Place("near", 1, 5)])


def test_what_is_added_has_the_interval_of_pairs() -> None:
    plain, changed = np.array([3.0, 4.0, 5.0]), np.array([3.2, 4.1, 5.6])
    found = places.added(changed, plain)
    assert found == intervals.difference(changed, plain, np.ones(3))
    assert found.value == pytest.approx(0.3)
    assert found.low is not None and found.high is not None
    assert 0.099 < found.low < 0.3 < found.high < 0.601
    assert places.added(changed[:1], plain[:1])[1:] == (None, None)


def test_texts_are_of_one_length() -> None:
    assert places.length([[1, 2, 3, 4], (5, 6, 7, 8)]) == 3
    for texts in ([[1, 2, 3], [1, 2, 3, 4]], [[1, 2]], []):
        with pytest.raises(LengthError, match="one length of at least 3"):
            places.length(texts)
