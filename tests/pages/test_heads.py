"""The order of the wall, and what it says of each head."""

import numpy as np
import pytest

from pages.compare import state, wall

PNGS = [b"0", b"1", b"2", b"3", b"4", b"5"]  # of two layers with three heads


def test_in_place_every_head_stands_by_layer_and_number() -> None:
    found = wall.pictures(PNGS, 3, "place", None)
    assert [(p.layer, p.head) for p in found] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert [p.png for p in found] == PNGS
    assert not any(p.value or p.words for p in found)


def test_sorted_the_largest_comes_first_with_its_picture_and_words() -> None:
    values = np.array([[10.0, 412.4, np.nan], [1200.0, 10.0, 11.0]])
    found = wall.pictures(PNGS, 3, "reach", values)
    assert [p.png for p in found] == [b"3", b"1", b"5", b"0", b"4", b"2"]
    assert (found[0].layer, found[0].head, found[0].value) == (1, 0, "1,200")
    assert found[1].words == "90 % of the mass within 412 tokens"
    assert (found[-1].value, found[-1].words) == ("–", "no value for so short a text")


@pytest.mark.parametrize(
    ("share", "value"),
    [(0.314, "31 %"), (0.0267, "2.7 %"), (0.0005, "0.05 %"), (1e-9, "< 0.01 %"), (0.0, "< 0.01 %")],
)
def test_shares_are_said_in_per_cent(share: float, value: str) -> None:
    (picture,) = wall.pictures([b"0"], 1, "sink", np.array([[share]]))
    assert picture.value == value
    assert picture.words == f"{value} of the mass on the first 4 keys"


def test_every_order_of_an_address_has_words() -> None:
    assert tuple(wall.ORDERS) == state.SORTS
