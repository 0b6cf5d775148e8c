"""What is explained: its value, and what can't be asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from viz_core.attribution import Target
from viz_core.errors import LengthError, UnknownName, UsageError
from viz_core.model import Transformer


def test_the_number_is_the_mean_over_queries_of_what_its_kind_says(
    small: Callable[..., Transformer], drawn: Callable[..., list[int]]
) -> None:
    model, ids = small("rope"), drawn(20)
    out = model(torch.tensor([ids[:-1], ids[1:]]))
    logs = out.logits.log_softmax(-1)
    cases = {
        Target((3, 9), (5, 7)): (logs[:, 3, 5] + logs[:, 9, 7]) / 2,
        Target((9,), (7,), "logit"): out.logits[:, 9, 7],
        Target((3, 9), (5, 7), "difference", (1, 2)): (
            logs[:, 3, 5] - logs[:, 3, 1] + logs[:, 9, 7] - logs[:, 9, 2]
        )
        / 2,
    }
    for target, expected in cases.items():
        torch.testing.assert_close(target.value(model, out.stream), expected)


def test_the_token_that_follows() -> None:
    target = Target.following([10, 11, 12, 13], [0, 2], "logit")
    assert target == Target((0, 2), (11, 13), "logit")
    assert target.reads == 3
    for query in (-1, 3, 4):
        with pytest.raises(LengthError, match=f"from 0 to 2.*; got {query}"):
            Target.following([10, 11, 12, 13], [0, query])


@pytest.mark.parametrize(
    "wrong",
    [((), ()), ((1, 2), (3,)), ((1,), (3,), "difference"), ((1,), (3,), "logit", (4,))],
)
def test_queries_and_tokens_that_do_not_fit_together(wrong: tuple[object, ...]) -> None:
    with pytest.raises(UsageError, match="Expected a token for each"):
        Target(*wrong)  # type: ignore[arg-type]


def test_what_the_text_or_the_vocabulary_does_not_have() -> None:
    with pytest.raises(UnknownName, match="'loss'"):
        Target((1,), (2,), "loss")  # type: ignore[arg-type]
    Target((9,), (23,)).check(10, 24)
    for target, words in (
        (Target((10,), (0,)), "queries from 0 to 9; got 10"),
        (Target((-1,), (0,)), "queries from 0 to 9; got -1"),
        (Target((0,), (24,)), "ids from 0 to 23; got 24"),
        (Target((0,), (1,), "difference", (-2,)), "ids from 0 to 23; got -2"),
    ):
        with pytest.raises(UsageError, match=words):
            target.check(10, 24)
