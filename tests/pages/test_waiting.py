"""The progress bar: quiet at first, seldom written, and a way out."""

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from pages._shared.waiting import Waiting, left


class Place:
    """Stands in for a place on the page, and keeps what was written there."""

    def __init__(self) -> None:
        self.cleared, self.written = 0, list[tuple[float, str]]()

    def empty(self) -> None:
        self.cleared += 1

    def progress(self, done: float, text: str) -> None:
        self.written.append((done, text))


@pytest.fixture
def clock() -> SimpleNamespace:
    return SimpleNamespace(now=100.0)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Place:
    found = Place()
    monkeypatch.setattr(Waiting, "_drawn", lambda self: found)
    return found


def test_work_of_less_than_a_second_shows_nothing_but_can_be_stopped(
    place: Place, clock: SimpleNamespace
) -> None:
    report = Waiting(place, clock=lambda: clock.now).watch("RoPE")
    for _ in range(9):
        clock.now += 0.1
        report(0.5)
    assert not place.written
    assert place.cleared > 3  # each is a chance for Streamlit to stop the run


def test_thousands_of_calls_write_eight_times_a_second(
    place: Place, clock: SimpleNamespace
) -> None:
    report = Waiting(place, clock=lambda: clock.now).watch("RoPE")
    for i in range(4000):
        clock.now += 0.001
        report(i / 4000)
    assert 20 <= len(place.written) <= 25  # in the three seconds after the first
    assert place.written[-1][1].startswith("Computing RoPE: 99 %")


def test_time_left_is_by_what_is_done_of_this_work(place: Place, clock: SimpleNamespace) -> None:
    waiting = Waiting(place, clock=lambda: clock.now)
    clock.now += 50.0  # the first of two takes long
    report = waiting.watch("RoPE")
    report(0.1)
    clock.now += 9.0
    report(0.43)
    assert place.written == [
        (0.1, "Computing RoPE: 10 %"),
        (0.43, "Computing RoPE: 43 %, about 12 s left"),
    ]


def test_who_stands_in_line_sees_their_place_and_its_time_is_not_counted_as_work(
    place: Place, clock: SimpleNamespace
) -> None:
    report = Waiting(place, clock=lambda: clock.now).watch("RoPE")
    for before in (12, 1):
        clock.now += 50.0
        report.stands(before)
    clock.now += 9.0
    report(0.43)
    assert place.written == [
        (0.0, "Waiting to compute RoPE: 12 before you"),
        (0.0, "Waiting to compute RoPE: 1 before you"),
        (0.43, "Computing RoPE: 43 %, about 12 s left"),
    ]


@pytest.mark.parametrize(
    ("done", "seconds", "words"),
    [
        (0.5, 0.9, ""),  # too soon to tell
        (0.0, 5.0, ""),
        (0.999, 5.0, "1 s"),
        (0.25, 10.0, "30 s"),
        (0.1, 10.0, "1.5 min"),
        (0.01, 60.0, "99 min"),
    ],
)
def test_time_left_in_words(done: float, seconds: float, words: str) -> None:
    assert left(done, seconds) == words


def test_an_exception_of_a_write_ends_the_work(clock: SimpleNamespace) -> None:
    class Stop(Exception):
        pass

    def stop() -> None:
        raise Stop

    report = Waiting(SimpleNamespace(empty=stop), clock=lambda: clock.now).watch("RoPE")
    report(0.1)
    clock.now += 0.2
    with pytest.raises(Stop):
        report(0.2)


def page() -> None:
    import itertools

    import streamlit as st

    from pages._shared.waiting import Waiting

    def cancel() -> None:
        st.session_state.cancelled = True

    seconds = itertools.count()  # two pass between two reports
    report = Waiting(st.empty(), cancel, clock=lambda: 2.0 * next(seconds)).watch("RoPE")
    if "cancelled" not in st.session_state:
        report(0.25)
        report(0.5)


def test_the_bar_and_its_button_on_a_page() -> None:
    app = AppTest.from_function(page).run()
    assert not app.exception
    assert app.get("progress")[0].value == 50
    app.button(key="cancel").click().run()
    assert app.session_state.cancelled
    assert not app.get("progress")
