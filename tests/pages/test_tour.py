"""The tour: what each stop claims holds for what is shipped, and its address opens it."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages._shared import offered, tour
from pages.compare import state as compare_state
from pages.compare.state import CompareState, SideState
from pages.extrapolation import state as extrapolation_state
from viz_core import results
from viz_core.catalogue import SHIPPED

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")
TABLES = SHIPPED / "results"


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=key).click().run()


def heads(number: int) -> pd.DataFrame:
    """The shipped statistics of the heads that a stop shows, in its order."""
    state, wrong = compare_state.decoded(tour.STOPS[number - 1].query, CompareState(()))
    assert not wrong
    table = results.shipped("signatures", TABLES).astype({"layer": int})
    rows = [
        table[
            (table.checkpoint == s.checkpoint)
            & (table.layer == s.layer + 1)
            & (table["head"] == s.head + 1)
        ]
        for s in state.sides
    ]
    return pd.concat(rows)


def loss(encoding: str, length: int, setting: str = "") -> float:
    """By how much the loss differs from that at the trained length: held out, fixed targets."""
    t = results.shipped("perplexity", TABLES)
    found = t[
        (t.encoding == encoding)
        & (t.setting == setting)
        & (t.length == length)
        & (t.text == "heldout")
        & (t.protocol == "fixed-targets")
        & (t.source == "all")
    ]
    return float(found.difference.iloc[0])


def test_each_alibi_head_has_half_the_slope_and_nearly_twice_the_reach() -> None:
    rows = heads(1)
    assert set(rows.encoding) == {"alibi"}
    nominal, measured = rows.slope_nominal.to_numpy(), rows.slope.to_numpy()
    assert nominal[1:] / nominal[:-1] == pytest.approx(0.5)
    assert measured == pytest.approx(nominal, rel=0.03)
    reach = rows.reach_90.to_numpy()
    assert (reach[1:] / reach[:-1] > 1.7).all()
    assert (reach[1:] / reach[:-1] < 2).all()
    assert (rows.stairs < 0.1).all()  # straight within a head: next to no steps


def test_the_rope_head_ripples_at_two_pi_by_several_nats() -> None:
    (row,) = heads(2).itertuples()
    assert row.encoding == "rope"
    assert row.period == pytest.approx(2 * math.pi, rel=0.01)
    assert row.ripple_p == pytest.approx(0.005)
    assert row.ripple > 0.99 > 0.1 > row.ripple_even
    portrait = results.portraits(TABLES)["rope"].portrait
    curve = portrait.curve[row.layer - 1, row.head - 1]
    per_turn = [np.ptp(curve[d : d + 7]) for d in range(7, 400, 7)]
    assert np.median(per_turn) > 3


def test_the_t5_head_steps_at_its_buckets_and_alibi_heads_do_not() -> None:
    (row,) = heads(3).itertuples()
    assert row.encoding == "t5"
    assert row.stairs_p <= 0.05
    assert row.stairs > 0.5
    table = results.shipped("signatures", TABLES)
    assert table[table.encoding == "alibi"].stairs.max() < 0.1


def test_past_the_trained_length_rope_loses_and_alibi_does_not() -> None:
    assert {c.config.length for c in offered.shipped()[0].values()} == {512}
    assert loss("rope", 1024) > 0.5
    assert loss("rope", 2048) > loss("rope", 1024)
    assert abs(loss("alibi", 1024)) < 0.01
    assert math.isnan(loss("learned", 1024))


@pytest.mark.parametrize(
    ("length", "setting", "said"),
    [(1024, "", 0.57), (1024, "ntk:fit", 0.14), (4096, "", 1.19), (4096, "ntk:fit", 1.04)],
)
def test_ntk_loses_less_as_said(length: int, setting: str, said: float) -> None:
    assert f"{loss('rope', length, setting):.2f}" == f"{said}"
    assert f"{said}" in tour.STOPS[4].words


def test_addresses_of_stops_can_be_read() -> None:
    for stop in tour.STOPS:
        if stop.page == "compare":
            state, wrong = compare_state.decoded(
                stop.query, CompareState((SideState("rope", 0, 0),))
            )
        else:
            state, wrong = extrapolation_state.decoded(stop.query)
        assert not wrong
        assert state.encoded() == dict(stop.query)


def test_the_stops_follow_each_other_on_one_page_and_across_pages() -> None:
    app = press(opened(length="64", texts="2", a="rope.1.1"), "tour_start")
    for number, stop in enumerate(tour.STOPS, 1):
        assert not app.exception
        assert not app.error
        now = {name: app.query_params[name] for name in app.query_params}
        assert now == {**stop.query, "tour": str(number)}
        assert any(f"step {number} of {len(tour.STOPS)}" in m.value for m in app.markdown)
        if number < len(tour.STOPS):
            press(app, "tour_on")
    press(app, "tour_back")
    assert app.query_params["tour"] == "4"
    press(app, "tour_end")
    assert "tour" not in app.query_params
    assert not [b for b in app.button if b.key and b.key.startswith("tour_")]


def test_a_stop_opens_by_its_address_and_again_after_changes() -> None:
    app = opened(tour="3", **tour.STOPS[2].query)
    assert any("step 3 of" in m.value for m in app.markdown)
    assert app.selectbox(key="checkpoint0").value == "t5"
    app.selectbox(key="head0").set_value(0).run()
    assert app.query_params["a"] == "t5.3.1"
    assert app.query_params["tour"] == "3"
    press(app, "tour_again")
    assert app.query_params["a"] == "t5.3.3"


@pytest.mark.parametrize("number", ["0", "6", "-1", "x", "99999"])
def test_a_stop_that_there_is_not_is_no_tour(number: str) -> None:
    app = opened(tour=number, length="64", texts="2")
    assert not app.exception
    assert "tour" not in app.query_params
    assert app.button(key="tour_start")


def test_who_declines_is_not_asked_again() -> None:
    app = press(opened(length="64", texts="2"), "tour_decline")
    assert not [b for b in app.button if b.key == "tour_start"]
