"""The queue before a device: nobody is overtaken or forgotten, and no more are served than fit."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pages._shared import line as lines
from pages._shared.line import Line


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "PATIENCE", 0.005)


def stand(line: Line, waiting: int) -> None:
    """Returns once so many stand in `line`."""
    while line.length < waiting:
        threading.Event().wait(0.001)


@pytest.mark.parametrize("places", [1, 2, 3])
def test_no_more_than_the_places_are_served_at_once(places: int) -> None:
    line, inside, most = Line(places), 0, 0
    lock = threading.Lock()

    def work(_: int) -> None:
        nonlocal inside, most
        with line.turn():
            with lock:
                inside += 1
                most = max(most, inside)
            threading.Event().wait(0.002)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(40)))
    assert most == places and line.length == 0


def test_each_is_served_in_the_order_in_which_they_came_and_knows_their_place() -> None:
    line, served = Line(), list[int]()
    places: dict[int, list[int]] = {i: [] for i in range(4)}

    def come(i: int) -> None:
        with line.turn(places[i].append):
            served.append(i)

    with ThreadPoolExecutor(4) as pool, line.turn():
        for i in range(4):
            pool.submit(come, i)
            stand(line, i + 1)
        while not all(places.values()):
            threading.Event().wait(0.001)
        assert [places[i][0] for i in range(4)] == [1, 2, 3, 4]  # who is served counts
    assert served == [0, 1, 2, 3]
    for told in places.values():
        assert told == sorted(told, reverse=True)


def test_who_gives_up_leaves_the_line_to_those_behind() -> None:
    line, served = Line(), list[str]()

    def leave(before: int) -> None:
        raise InterruptedError

    def come() -> None:
        with line.turn():
            served.append("came")

    with ThreadPoolExecutor(1) as pool:
        with line.turn():
            with pytest.raises(InterruptedError), line.turn(leave):
                served.append("gave up")
            behind = pool.submit(come)
            stand(line, 1)
        behind.result(5)
    assert served == ["came"] and line.length == 0


def test_work_that_fails_frees_its_place() -> None:
    line = Line()
    with pytest.raises(ZeroDivisionError), line.turn():
        raise ZeroDivisionError
    with line.turn(lambda before: pytest.fail("the place is free")):
        pass
